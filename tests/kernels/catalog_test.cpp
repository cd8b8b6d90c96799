#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "tests/json_fields.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

constexpr const char* kPath = "ops/gemm/gemm_sample.json";

constexpr const char* kSample = R"json({
    "op": "gemm", "preludes": ["types.clh"], "precisions": ["normal", "high"],
    "activations": ["buffer"], "weights": ["buffer", "image"], "weight_types": ["float", "int4"],
    "params": {"TILE": 4}, "where": ["K % 4 == 0"], "pack": 16,
    "args": ["in:x@image", "weights", "scales", "vector:bias", "out:y", "int:M", "int:TILE * 2",
             "float:act_lo"],
    "global": ["ceil_div(N, TILE)", "M"], "local": ["8", "1"], "rank": {"cpu": 3},
    "tests": [{"name": "a", "dims": {"M": 3, "N": 5, "K": 8, "W": 1}, "scalars": {"act_lo": 0.5}}]
  })json";

Result<Catalog> parse(const std::string& manifest) { return Catalog::parse({{kPath, manifest}}); }

TEST(Manifest, IsReadFieldByField) {
  const auto catalog = parse(kSample);
  ASSERT_TRUE(catalog) << catalog.error().message;
  const Manifest* manifest = catalog->find("gemm_sample");
  ASSERT_NE(manifest, nullptr);
  EXPECT_EQ(manifest->family, "gemm");
  EXPECT_EQ(manifest->pack, 16);
  EXPECT_EQ(manifest->rank.at("cpu"), 3);
  EXPECT_EQ(manifest->args[0].storage, Storage::kImage);
  EXPECT_EQ(manifest->args[0].name, "x");
  EXPECT_EQ(manifest->args[4].storage, std::nullopt);
  EXPECT_EQ(variants_of(*manifest).size(), 2u * 2 * 2);
  EXPECT_EQ(catalog->for_op("gemm").size(), 1u);
}

TEST(Manifest, MayNameItsWeightsItsScalesAndItsState) {
  const auto catalog = parse(test::with_field(
      kSample, "/args",
      R"(["in:x", "weights:w_o", "scales:w_o", "weights", "scales", "state:met", "out:y"])"));
  ASSERT_TRUE(catalog) << catalog.error().message;
  std::vector<std::pair<ArgKind, std::string>> args;
  for (const ArgSpec& arg : catalog->find("gemm_sample")->args)
    args.emplace_back(arg.kind, arg.name);
  EXPECT_THAT(args, ElementsAre(Pair(ArgKind::kInput, "x"), Pair(ArgKind::kWeights, "w_o"),
                                Pair(ArgKind::kScales, "w_o"), Pair(ArgKind::kWeights, "w"),
                                Pair(ArgKind::kScales, "w"), Pair(ArgKind::kState, "met"),
                                Pair(ArgKind::kOutput, "y")));
}

struct BadField {
  const char* field;
  const char* value;  // as JSON; empty: the field is not there
  const char* message;
};

TEST(Manifest, WithABadFieldIsRefusedNamingFileAndField) {
  const BadField rows[] = {{"op", "", "missing"},
                           {"op", "\"gemv\"", "does not begin with it"},
                           {"op", "\"gem\"", "no contract"},
                           {"colour", "\"red\"", "not a known"},
                           {"precisions", R"(["medium"])", "'medium'"},
                           {"precisions", R"(["low", "low"])", "twice"},
                           {"weights", R"(["disk"])", "'disk'"},
                           {"weight_types", "[]", "together"},
                           {"params", "[1]", "object of numbers"},
                           {"pack", "20", "multiple of 16"},
                           {"timed", "[\"huge\"]", "names 'huge', which is not a test"},
                           {"pack", "\"x\"", "an integer"},
                           {"where", R"(["K %% 4"])", "expected a value"},
                           {"args", R"(["in:x"])", "hold an output"},
                           {"args", R"(["tensor:x"])", "unknown kind"},
                           {"args", R"(["in:x@disk"])", "unknown storage"},
                           {"args", R"(["in"])", "write kind:name"},
                           {"args", R"(["state"])", "write kind:name"},
                           {"args", R"(["weights:"])", "empty name"},
                           {"args", R"(["in:x?"])", "empty condition"},
                           {"args", R"(["out:y?K"])", "only inputs, vectors and indices"},
                           {"local", R"(["8"])", "as many dimensions"},
                           {"global", "[]", "empty"},
                           {"tests", "[{}]", "tests[0].name"}};
  for (const BadField& row : rows) {
    SCOPED_TRACE(std::string(row.field) + ": " + row.value);
    const auto catalog = parse(test::with_field(kSample, "/" + std::string(row.field), row.value));
    EXPECT_FALSE(catalog);
    if (catalog) continue;
    EXPECT_EQ(catalog.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(catalog.error().message,
                AllOf(HasSubstr(kPath), HasSubstr(row.field), HasSubstr(row.message)));
  }
}

TEST(Manifest, ThatIsNotJsonIsRefusedNamingTheFile) {
  const auto catalog = Catalog::parse({{kPath, "{\"op\": "}});
  ASSERT_FALSE(catalog);
  EXPECT_THAT(catalog.error().message, StartsWith(kPath));
}

TEST(Manifest, MayNotBeDefinedTwice) {
  const auto catalog = Catalog::parse({{kPath, kSample}, {kPath, kSample}});
  ASSERT_FALSE(catalog);
  EXPECT_THAT(catalog.error().message, HasSubstr("twice"));
}

class SampleCall : public testing::Test {
 protected:
  Catalog catalog_ = *parse(kSample);
  const Manifest& manifest_ = *catalog_.find("gemm_sample");
  Dims dims_ = manifest_.tests[0].dims;
  Scalars scalars_ = manifest_.tests[0].scalars;
};

TEST_F(SampleCall, HasItsArgumentsInOrderAndItsSizesRounded) {
  Variant variant{&manifest_, Precision::kHigh, Storage::kBuffer, Storage::kImage,
                  WeightType::kInt4};
  const auto call = make_call(variant, dims_, scalars_);
  ASSERT_TRUE(call) << call.error().message;
  ASSERT_EQ(call->args.size(), 8u);
  EXPECT_EQ(call->args[0].storage, Storage::kImage);
  EXPECT_EQ(call->args[1].storage, Storage::kImage);
  EXPECT_EQ(call->args[4].storage, Storage::kBuffer);
  EXPECT_EQ(call->args[5].int_value, 3);
  EXPECT_EQ(call->args[6].int_value, 8);
  EXPECT_EQ(call->args[7].float_value, 0.5f);
  EXPECT_EQ(call->work_dim, 2);
  EXPECT_THAT(call->global, ElementsAre(8, 3, 1));
  EXPECT_THAT(call->local, ElementsAre(8, 1, 1));
}

TEST_F(SampleCall, OfFloatWeightsHasNoScales) {
  Variant variant{&manifest_, Precision::kHigh, Storage::kBuffer, Storage::kBuffer,
                  WeightType::kFloat};
  EXPECT_EQ(make_call(variant, dims_, scalars_)->args.size(), 7u);
}

TEST(ScalesOfACall, BelongToTheWeightsOfTheirName) {
  const std::vector<TensorRole> roles = {{.name = "w", .kind = TensorKind::kWeights},
                                         {.name = "w_o", .kind = TensorKind::kWeights},
                                         {.name = "met", .kind = TensorKind::kState}};
  const auto role = [&](ArgKind kind, const std::string& name) {
    return role_of(roles, {.kind = kind, .name = name});
  };
  for (const ArgKind kind : {ArgKind::kWeights, ArgKind::kScales}) {
    EXPECT_EQ(role(kind, "w"), &roles[0]);
    EXPECT_EQ(role(kind, "w_o"), &roles[1]);
    EXPECT_EQ(role(kind, "scales"), nullptr);
  }
  EXPECT_EQ(role(ArgKind::kState, "met"), &roles[2]);
}

TEST(ConditionalArgument, IsANullPointerWhereItsConditionIsZeroUnlessItIsAnImage) {
  const std::string manifest = test::with_field(
      kSample, "/args",
      R"(["in:x@buffer?M - 3", "in:x@image?M - 3", "weights", "scales", "vector:bias?K", "out:y"])");
  const auto catalog = parse(manifest);
  ASSERT_TRUE(catalog) << catalog.error().message;
  const Manifest& sample = *catalog->find("gemm_sample");
  EXPECT_EQ(sample.args[0].name, "x");
  EXPECT_EQ(sample.args[0].storage, Storage::kBuffer);
  EXPECT_EQ(sample.args[4].name, "bias");
  const auto call =
      make_call(variants_of(sample)[0], sample.tests[0].dims, sample.tests[0].scalars);
  ASSERT_TRUE(call) << call.error().message;
  std::vector<bool> absent;
  for (const CallArg& arg : call->args) {
    if (arg.kind != ArgKind::kScales) absent.push_back(arg.absent);
  }
  EXPECT_THAT(absent, ElementsAre(true, false, false, false, false));
}

TEST_F(SampleCall, IsUnsupportedWhereAConditionIsNotMet) {
  dims_["K"] = 9;
  const auto call = make_call(variants_of(manifest_)[0], dims_, scalars_);
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(call.error().message, HasSubstr("K % 4 == 0"));
}

TEST_F(SampleCall, NamesTheDimOrScalarThatIsMissing) {
  const Variant variant = variants_of(manifest_)[0];
  EXPECT_THAT(make_call(variant, dims_, {}).error().message, HasSubstr("'act_lo'"));
  dims_.erase("N");
  EXPECT_THAT(make_call(variant, dims_, scalars_).error().message, HasSubstr("'N'"));
}

const Result<Catalog>& embedded() {
  static const Result<Catalog> catalog = Catalog::embedded();
  return catalog;
}

// Every manifest that is embedded.
class EmbeddedManifest : public testing::TestWithParam<std::string> {
 protected:
  const Manifest& manifest() const { return *embedded()->find(GetParam()); }
};

std::vector<std::string> embedded_ids() {
  std::vector<std::string> ids;
  if (!embedded()) return {"(" + embedded().error().message + ")"};
  for (const Manifest& manifest : embedded()->manifests()) ids.push_back(manifest.id);
  return ids;
}

TEST_P(EmbeddedManifest, HasAnEntryPointOfTheNameOfItsText) {
  const auto text = kernel_text("ops/" + manifest().family + "/" + manifest().text + ".cl");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("__kernel void " + manifest().text + "("));
  EXPECT_THAT(manifest().id, StartsWith(manifest().op));
}

TEST_P(EmbeddedManifest, HasThreeTestShapesThatItsContractAndCallAccept) {
  EXPECT_GE(manifest().tests.size(), 3u);
  const OpContract* contract = find_op_contract(manifest().op);
  ASSERT_NE(contract, nullptr);
  std::set<std::string> names;
  for (const TestShape& test : manifest().tests) {
    EXPECT_TRUE(names.insert(test.name).second) << test.name;
    const auto roles = contract->roles(test.dims);
    ASSERT_TRUE(roles) << test.name << ": " << roles.error().message;
    for (const Variant& variant : variants_of(manifest())) {
      const auto call = make_call(variant, test.dims, test.scalars);
      ASSERT_TRUE(call) << test.name << ": " << call.error().message;
      for (const CallArg& arg : call->args) {
        if (arg.kind == ArgKind::kInt || arg.kind == ArgKind::kFloat) continue;
        EXPECT_NE(role_of(*roles, arg), nullptr) << manifest().op << " has no tensor " << arg.name;
      }
    }
  }
}

TEST_P(EmbeddedManifest, TakesItsOutputsInTheOrderOfItsContract) {
  std::vector<std::string> args, roles;
  for (const ArgSpec& arg : manifest().args) {
    if (arg.kind == ArgKind::kOutput) args.push_back(arg.name);
  }
  const auto contract = find_op_contract(manifest().op)->roles(manifest().tests[0].dims);
  for (const TensorRole& role : *contract) {
    if (role.kind == TensorKind::kOutput) roles.push_back(role.name);
  }
  EXPECT_EQ(args, roles);
}

TEST_P(EmbeddedManifest, AssemblesEveryVariantUnderAKeyOfItsOwn) {
  std::set<std::string> keys, names;
  for (const Variant& variant : variants_of(manifest())) {
    const auto program = program_of(variant);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->entry, manifest().text);
    EXPECT_EQ(program->key.size(), 64u);
    EXPECT_EQ(program->sources.size(), manifest().preludes.size() + 1);
    EXPECT_EQ(program->variant_key.size(), 64u);
    EXPECT_TRUE(keys.insert(program->variant_key).second) << variant.name();
    EXPECT_TRUE(names.insert(variant.name()).second) << variant.name();
    EXPECT_TRUE(std::is_sorted(program->constructs.begin(), program->constructs.end()));
    EXPECT_EQ(variant.combination().weights.has_value(), variant.combination().memory.has_value());
    if (manifest().trial_only) continue;
    const bool low = variant.precision == Precision::kLow;
    EXPECT_EQ(std::count(program->constructs.begin(), program->constructs.end(), "half_type"), low);
    EXPECT_THAT(
        program->constructs,
        Not(Contains(AnyOf("read_imageh", "write_imageh", "sampler", "image_int32_weights"))));
  }
}

TEST(ProgramOf, IsOneForNormalAndHighWhereAllValuesLieInImages) {
  const auto& catalog = embedded();
  ASSERT_TRUE(catalog);
  std::map<std::string, std::string> keys;
  for (const Manifest& manifest : catalog->manifests()) {
    for (const Variant& variant : variants_of(manifest)) {
      keys[variant.name()] = program_of(variant)->key;
    }
  }
  EXPECT_EQ(keys.at("pool_window/normal/-/image/-/-"), keys.at("pool_window/high/-/image/-/-"));
  EXPECT_NE(keys.at("pool_window/low/-/image/-/-"), keys.at("pool_window/high/-/image/-/-"));
  EXPECT_NE(keys.at("pool_window/normal/-/buffer/-/-"), keys.at("pool_window/high/-/buffer/-/-"));
  EXPECT_EQ(keys.at("gemm_tile4x4/normal/normal/image/image/float"),
            keys.at("gemm_tile4x4/high/normal/image/image/float"));
  EXPECT_NE(keys.at("gemm_tile4x4/normal/low/image/image/int8"),
            keys.at("gemm_tile4x4/high/low/image/image/int8"));
}

TEST_P(EmbeddedManifest, PassesAsManyArgumentsAsItsKernelTakes) {
  const std::string text = *kernel_text("ops/" + manifest().family + "/" + manifest().text + ".cl");
  const size_t open = text.find("__kernel void " + manifest().text + "(");
  const size_t close = text.find(") {", open);
  const std::string list = text.substr(open, close - open);
  const auto commas = std::count(list.begin(), list.end(), ',');
  const auto& types = manifest().weight_types;
  const bool quantised = std::any_of(types.begin(), types.end(),
                                     [](WeightType type) { return type != WeightType::kFloat; });
  const bool scales = std::any_of(manifest().args.begin(), manifest().args.end(),
                                  [](const ArgSpec& arg) { return arg.kind == ArgKind::kScales; });
  const bool one_for_two = scales && list.find("W_ARGS") != std::string::npos;
  const bool adds = manifest().params.contains("ADD") && list.find("R_IN ") != std::string::npos;
  EXPECT_EQ(manifest().args.size(), static_cast<size_t>(commas) + 1 + one_for_two + adds)
      << "W_ARGS stands for weights and scales, R_IN for r and a comma where ADD is set";
  EXPECT_EQ(scales, quantised) << "scales are passed exactly where weights can be quantised";
}

INSTANTIATE_TEST_SUITE_P(Catalog, EmbeddedManifest, testing::ValuesIn(embedded_ids()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

TEST(EmbeddedCatalog, HasAVariantThatNeedsNothingForEveryOpButCopiesAndCasts) {
  const Catalog& catalog = *embedded();
  for (const OpContract* contract : op_contracts()) {
    if (contract->op.starts_with("copy_") || contract->op.starts_with("cast_")) continue;
    bool plain = false;
    for (const Manifest* manifest : catalog.for_op(contract->op)) {
      for (const Variant& variant : variants_of(*manifest)) {
        plain |= manifest->require.empty() && !manifest->trial_only &&
                 variant.precision == Precision::kHigh && variant.activations == Storage::kBuffer &&
                 variant.weights.value_or(Storage::kBuffer) == Storage::kBuffer;
      }
    }
    EXPECT_TRUE(plain) << contract->op;
  }
}

TEST(EmbeddedCatalog, TriesTheConstructsThatItsPlannedKernelsAvoid) {
  const Catalog& catalog = *embedded();
  std::set<std::string> words;
  for (const Manifest& manifest : catalog.manifests()) {
    if (manifest.trial_only) words.insert(manifest.constructs.begin(), manifest.constructs.end());
  }
  EXPECT_THAT(words, testing::IsSupersetOf({"read_imageh", "write_imageh", "sampler", "half_type",
                                            "image_int32_weights"}));
}

TEST(EmbeddedCatalog, ServesGemmAndGemvInEveryCombination) {
  const Catalog& catalog = *embedded();
  for (const char* op : {"gemm", "gemv"}) {
    std::set<std::string> combinations;
    for (const Manifest* manifest : catalog.for_op(op)) {
      for (const Variant& variant : variants_of(*manifest)) {
        if (variant.weight_type == WeightType::kQ4_0) continue;
        combinations.insert(to_string(variant.combination()) + to_string(*variant.weight_type));
      }
    }
    EXPECT_EQ(combinations.size(), 3u * 2 * 2 * 3) << op;
  }
}

// A model stays in its blocks only where all that multiplies by a matrix reads them.
TEST(EmbeddedCatalog, ReadsBlocksOfQ4_0InProductsOfRowsAndOfTokensOfAnyShape) {
  const Catalog& catalog = *embedded();
  for (const Precision precision : {Precision::kNormal, Precision::kHigh}) {
    for (const char* op : {"gemm", "gemv_fused"}) {
      bool any_shape = false;
      for (const Manifest* manifest : catalog.for_op(op)) {
        for (const Variant& variant : variants_of(*manifest)) {
          if (variant.precision != precision || variant.weight_type != WeightType::kQ4_0) continue;
          any_shape |= manifest->where.empty();
          EXPECT_EQ(variant.weights, Storage::kBuffer);
          EXPECT_THAT(program_of(variant)->constructs, testing::Contains("vload_half"));
        }
      }
      EXPECT_TRUE(any_shape) << op;
    }
  }
}

// Else a device would hold the weights twice, for answers and for prompts.
TEST(EmbeddedCatalog, PacksBlocksOfQ4_0AlikeInAllKernels) {
  const Catalog& catalog = *embedded();
  std::set<int64_t> packs;
  for (const Manifest& manifest : catalog.manifests()) {
    for (const Variant& variant : variants_of(manifest))
      if (variant.weight_type == WeightType::kQ4_0) packs.insert(manifest.pack);
  }
  EXPECT_THAT(packs, testing::ElementsAre(32));
}

TEST(EmbeddedCatalog, ReadsBlocksOfQ4_0ByTheTextsAndPointsOfOtherWeights) {
  const Catalog& catalog = *embedded();
  constexpr std::string_view kEnd = "_q4_0";
  int twins = 0;
  for (const Manifest& own : catalog.manifests()) {
    if (!own.id.ends_with(kEnd)) continue;
    const Manifest* other = catalog.find(own.id.substr(0, own.id.size() - kEnd.size()));
    ASSERT_NE(other, nullptr) << own.id;
    const auto parts = [](const Manifest& row) {
      return std::tie(row.text, row.preludes, row.precisions, row.params, row.where, row.global,
                      row.local, row.local_bytes, row.rank, row.core, row.timed);
    };
    EXPECT_TRUE(parts(own) == parts(*other)) << own.id;
    ++twins;
  }
  EXPECT_EQ(twins, 6);
}

TEST(KernelSet, IsOneHashOverAllFiles) {
  EXPECT_EQ(kernel_set().size(), 64u);
  EXPECT_EQ(kernel_set(), kernel_set());
}

TEST(KernelText, OfTheCanaryHasItsEntryPoint) {
  EXPECT_THAT(kernel_text("checks/canary.cl").value(), HasSubstr("__kernel void clvet_canary("));
  EXPECT_EQ(kernel_text("checks/none.cl").error().code, ErrorCode::kNotFound);
}

TEST(CombinationWords, AreTheInverseOfTheirParsers) {
  for (const Precision value : {Precision::kLow, Precision::kNormal, Precision::kHigh}) {
    EXPECT_EQ(parse_precision(to_string(value)), value);
  }
  EXPECT_EQ(parse_memory("low"), Memory::kLow);
  EXPECT_EQ(parse_storage("image"), Storage::kImage);
  EXPECT_EQ(parse_weight_type("int4"), WeightType::kInt4);
  EXPECT_EQ(parse_weight_type("q4_0"), WeightType::kQ4_0);
  EXPECT_EQ(parse_precision("High"), std::nullopt);
  EXPECT_EQ(
      to_string(Combination{Precision::kLow, Memory::kLow, Storage::kBuffer, Storage::kImage}),
      "low/low/buffer/image");
  EXPECT_EQ(to_string(Combination{}), "high/-/buffer/-");
}

}  // namespace
}  // namespace clvet
