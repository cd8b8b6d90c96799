// Where frames come from: a folder of pictures, or drawn.
#pragma once

#include <clvet/clvet.h>

#include <span>
#include <string>
#include <vector>

namespace camera {

struct Size {
  int width = 0, height = 0;
};

class Frames {
 public:
  // Drawn: bars that move to the right.
  Frames() = default;
  // The PNG and JPEG files of a folder in the order of their names, again and again.
  static clvet::Result<Frames> of_folder(const std::string& folder);

  // Frame `number` in this size: [3][height][width], blue first, -1..1.
  void fill(int number, Size size, std::span<float> out) const;

 private:
  struct Picture {
    int width = 0, height = 0;
    std::vector<unsigned char> rgb;
  };
  static clvet::Result<Picture> read(const std::string& path);
  std::vector<Picture> pictures_;
};

}  // namespace camera
