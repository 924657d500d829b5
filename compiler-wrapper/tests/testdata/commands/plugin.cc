// A library that is opened at run time.
#include <string>
extern "C" int length(const char *text) { return int(std::string(text).size()); }
