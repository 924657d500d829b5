#include <iostream>
extern "C" int one(void);
extern "C" int two(void);
int main() { std::cout << one() + two() << "\n"; }
