// Text from outside, made safe to print and to store.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clvet {

// Replaces each invalid UTF-8 sequence, and each control character but tab and newline, by U+FFFD.
std::string clean_utf8(std::string_view bytes);
// clean_utf8 on one line of at most about `limit` bytes: names from files, in messages.
std::string one_line(std::string_view bytes, size_t limit = 200);
// Bytes of the valid UTF-8 sequence at the start of `text`; 0 where there is none.
size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
// A driver's string: ends at the returned length or at the first NUL, then clean_utf8.
std::string driver_string(std::string_view bytes);
// At most `limit` bytes, cut at a character boundary, with the number of bytes left out said.
std::string shorten(std::string_view text, size_t limit);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
bool all_digits(std::string_view text);  // false of an empty one
// "c" and "/a/b" of "/a/b/c"; of a bare name the name and "".
std::string file_name_of(std::string_view path);
std::string folder_of(std::string_view path);
std::string lower_case(std::string_view text);  // of ASCII letters; others stay
// About three digits and no exponent for a number of 0.0001 and more: "0.123", "5.5", "6290".
std::string three_digits(double value);
// Compares ASCII letters without case.
bool contains_ignoring_case(std::string_view text, std::string_view part);

}  // namespace clvet
