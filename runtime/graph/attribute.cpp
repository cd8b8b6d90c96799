#include "runtime/graph/attribute.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct Attribute::Data {
  std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
               std::vector<std::string>, Tensor, std::shared_ptr<const Graph>>
      value;
};

Attribute::Attribute() : Attribute(int64_t{0}) {}
Attribute::Attribute(int64_t value) : data_(new Data{value}) {}
Attribute::Attribute(double value) : data_(new Data{value}) {}
Attribute::Attribute(std::string value) : data_(new Data{std::move(value)}) {}
Attribute::Attribute(std::vector<int64_t> values) : data_(new Data{std::move(values)}) {}
Attribute::Attribute(std::vector<double> values) : data_(new Data{std::move(values)}) {}
Attribute::Attribute(std::vector<std::string> values) : data_(new Data{std::move(values)}) {}
Attribute::Attribute(Tensor value) : data_(new Data{std::move(value)}) {}
Attribute::Attribute(std::shared_ptr<const Graph> value) : data_(new Data{std::move(value)}) {}
Attribute::Attribute(const Attribute&) = default;
Attribute& Attribute::operator=(const Attribute&) = default;
Attribute::~Attribute() = default;

char Attribute::kind() const {
  static constexpr char kKinds[] = "ifsIFStg";
  return kKinds[data_->value.index()];
}

template <class T>
const T* Attribute::get_if() const {
  return std::get_if<T>(&data_->value);
}
template const int64_t* Attribute::get_if() const;
template const double* Attribute::get_if() const;
template const std::string* Attribute::get_if() const;
template const std::vector<int64_t>* Attribute::get_if() const;
template const std::vector<double>* Attribute::get_if() const;
template const std::vector<std::string>* Attribute::get_if() const;
template const Tensor* Attribute::get_if() const;
template const std::shared_ptr<const Graph>* Attribute::get_if() const;

}  // namespace clvet

template class std::map<std::string, clvet::Attribute, std::less<>>;
