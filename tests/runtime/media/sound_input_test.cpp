#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/sound_input.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Tensor kFive = Tensor::of<float>({5}, {1, 2, 3, 4, 5});

Value input(std::optional<Shape> shape, std::optional<DType> dtype = DType::kF32) {
  Value value;
  value.name = "x";
  value.dtype = dtype;
  value.shape = std::move(shape);
  return value;
}

TEST(SoundInput, LiesAlongTheLastAxisThatIsNot1) {
  const struct {
    std::optional<Shape> asked;
    Shape given;
  } cases[] = {{std::nullopt, {1, 5}},
               {Shape{-1}, {5}},
               {Shape{5}, {5}},
               {Shape{1, -1}, {1, 5}},
               {Shape{-1, -1}, {1, 5}},
               {Shape{-1, 5}, {1, 5}},
               {Shape{1, 1, -1}, {1, 1, 5}},
               {Shape{-1, -1, 1}, {1, 5, 1}},
               {Shape{1, 5, 1, 1}, {1, 5, 1, 1}}};
  for (const auto& [asked, given] : cases) {
    const auto made = sound_input(kFive, input(asked), "a.wav");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->value.shape(), given);
    EXPECT_THAT(test::floats(made->value), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(made->padding, 0);
  }
}

TEST(SoundInput, IsFilledUpWithZerosWhereTheModelTakesMore) {
  const auto made = sound_input(kFive, input(Shape{1, 8}), "a.wav");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(test::floats(made->value), ElementsAre(1, 2, 3, 4, 5, 0, 0, 0));
  EXPECT_EQ(made->padding, 3);
}

TEST(SoundInput, IsNotCutByItself) {
  const auto made = sound_input(kFive, input(Shape{1, 4}), "a.wav");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "a.wav: the sound has 5 samples, but input 'x' takes f32[1,4]; cut the file, or let "
            "clvet run take it in steps: --series x=FILE.wav");
  EXPECT_FALSE(sound_input(kFive, input(Shape{1, 1}), "a.wav"));
}

TEST(SoundInput, HasTheTypeOfTheInputIfThatIsAFloat) {
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    const auto made = sound_input(kFive, input(Shape{1, -1}, dtype), "a.wav");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->value.dtype(), dtype);
    EXPECT_THAT(made->value.to_f64(), ElementsAre(1, 2, 3, 4, 5));
  }
  EXPECT_EQ(sound_input(kFive, input(Shape{-1}, std::nullopt), "a.wav")->value.dtype(),
            DType::kF32);
  for (const DType dtype : {DType::kI16, DType::kI64, DType::kU8, DType::kBool}) {
    const auto made = sound_input(kFive, input(Shape{1, -1}, dtype), "a.wav");
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr(std::string("takes ") + to_string(dtype)));
  }
}

TEST(SoundInput, IsRefusedWhereTheModelTakesNoLineOfSamples) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1, 80, 3000}, Shape{-1, 80, -1}, Shape{2, 5},
                             Shape{1, 2, -1}, Shape{5, -1}, Shape{1, 3, 224, 224}}) {
    const auto made = sound_input(kFive, input(shape), "a.wav");
    ASSERT_FALSE(made) << to_string(shape);
    EXPECT_THAT(made.error().message, HasSubstr("but a sound is one row of samples"));
    EXPECT_FALSE(sound_series(kFive, input(shape), {2, 0}, "a.wav"));
  }
}

TEST(SoundSeries, IsTheSoundInChunks) {
  const auto made = sound_series(kFive, input(Shape{1, 2}), {}, "a.wav");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->value.shape(), (Shape{3, 1, 2}));
  EXPECT_THAT(test::floats(made->value), ElementsAre(1, 2, 3, 4, 5, 0));
  EXPECT_EQ(made->padding, 1);
}

TEST(SoundSeries, MayOverlap) {
  const auto made = sound_series(kFive, input(Shape{-1, -1}), {.length = 3, .overlap = 1}, "a.wav");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->value.shape(), (Shape{3, 1, 3}));
  EXPECT_THAT(test::floats(made->value), ElementsAre(0, 1, 2, 2, 3, 4, 4, 5, 0));
  EXPECT_EQ(made->padding, 1);
  const auto most = sound_series(kFive, input(Shape{4}), {.overlap = 3}, "a.wav");
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_THAT(test::floats(most->value),
              ElementsAre(0, 0, 0, 1, 0, 0, 1, 2, 0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5));
  EXPECT_EQ(most->padding, 0);
}

TEST(SoundSeries, OfAShortSoundIsOneChunk) {
  const auto made = sound_series(kFive, input(Shape{1, 8}), {}, "a.wav");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->value.shape(), (Shape{1, 1, 8}));
  EXPECT_EQ(made->padding, 3);
}

TEST(SoundSeries, NeedsALengthThatFits) {
  const auto message = [](const Shape& shape, const ChunkOptions& options) {
    const auto made = sound_series(kFive, input(shape), options, "a.wav");
    return made ? std::string("taken") : made.error().message;
  };
  EXPECT_THAT(message({-1, -1}, {}), HasSubstr("--chunk 512"));
  EXPECT_THAT(message({1, 4}, {.length = 3}), HasSubstr("takes 4 samples, not the 3 of --chunk"));
  EXPECT_EQ(message({1, 4}, {.length = 4}), "taken");
  EXPECT_THAT(message({1, 4}, {.overlap = 4}), HasSubstr("is not below the 4 samples"));
  EXPECT_THAT(message({-1}, {.length = 1, .overlap = 1}), HasSubstr("is not below the 1 samples"));
  EXPECT_THAT(message({int64_t{1} << 61}, {}), HasSubstr("too many"));
}

}  // namespace
}  // namespace clvet
