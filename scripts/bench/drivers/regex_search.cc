// Searches generated lines with std::regex. Times itself: CPU seconds of the work on standard output.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <regex>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  std::vector<std::string> lines;
  unsigned long state = 99;
  for (int i = 0; i < 2000; i++) {
    std::string line;
    for (int w = 0; w < 8; w++) {
      state = state * 6364136223846793005ul + 1442695040888963407ul;
      for (unsigned long c = 0; c < 2 + (state >> 60); c++)
        line += static_cast<char>('a' + ((state >> (c % 40 + 8)) % 26));
      line += (state >> 55) % 3 ? " " : "  \t ";
    }
    if (i % 5 == 0)
      line += "2016-07-20 14:44:00 user" + std::to_string(i) + "@example.org";
    lines.push_back(line);
  }
  const std::regex trim("^\\s+|\\s+$"), date("([0-9]{4})-([0-9]{2})-([0-9]{2})"), mail("[a-z0-9]+@[a-z]+\\.(org|com)");
  int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  size_t found = 0;
  std::clock_t start = std::clock();
  for (int i = 0; i < rounds; i++)
    for (const std::string &line : lines) {
      std::smatch match;
      found += std::regex_search(line, match, trim);
      found += std::regex_search(line, match, date);
      found += std::regex_search(line, match, mail);
    }
  std::printf("%.6f\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  return found == 0;
}
