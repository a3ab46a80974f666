// SPDX-License-Identifier: Apache-2.0
// oneDNN as a contender (worker.hpp). Contenders are prepared by
//   matmul FOLDER M K N FORMAT PASS LAYOUT
// FORMAT is f32 or bf16, PASS forward, epilogue (bias, gelu, result in bf16), input_gradient or
// weight_gradient, LAYOUT of the weights plain or packed. The product is layer fc of a chain
// up (8 to K), fc (K to N), [gelu], head (N to 16), mse against target, in whose terms it is
// probed. `onednn_worker about` says which oneDNN.
#include <cstring>
#include <dnnl.hpp>
#include <unordered_map>

#include "worker.hpp"

using namespace halftone::tests;
using Matrix = std::vector<float>;  // row-major

namespace {

constexpr std::int64_t kFeatures = 8, kOutputs = 16;

float rounded_to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

/// a (rows, depth) times the transposition of b (columns, depth).
Matrix product(const Matrix& a, const Matrix& b, std::int64_t rows, std::int64_t columns,
               std::int64_t depth) {
  Matrix result(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < depth; ++l) sum += double{a[i * depth + l]} * b[j * depth + l];
      result[i * columns + j] = static_cast<float>(sum);
    }
  return result;
}

Matrix transposed(const Matrix& matrix, std::int64_t rows, std::int64_t columns) {
  Matrix result(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  return result;
}

class Matmul : public Contender {
 public:
  explicit Matmul(std::istringstream& words) {
    std::string format, layout;
    words >> folder_ >> m_ >> k_ >> n_ >> format >> pass_ >> layout;
    format_ = format == "bf16" ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
    make_operands();
    make_primitive(layout == "packed");
  }

  /// Waits now and then: PyPI's oneDNN queues its calls in SYCL, which takes time with the square of
  /// how many there are.
  void run(std::int64_t count) override {
    constexpr std::int64_t kQueued = 8;
    for (std::int64_t i = 0; i < count; ++i) {
      primitive_.execute(stream_, arguments_);
      if (rounds_apart_) rounding_.execute(stream_, result_, rounded_);
      if (i % kQueued == kQueued - 1) stream_.wait();
    }
    stream_.wait();
  }

  std::vector<double> probe() override {
    run(1);
    const Matrix found = floats(rounds_apart_ ? rounded_ : result_);
    if (pass_ == "weight_gradient") return sampled(found.data(), found.size());
    Matrix seen;
    if (pass_ == "input_gradient") {  // the gradient of up.weight, (K, 8)
      seen = product(transposed(found, m_, k_), transposed(x_, m_, kFeatures), k_, kFeatures, m_);
    } else {
      seen = product(found, head_, m_, kOutputs, n_);
    }
    return sampled(seen.data(), seen.size());
  }

 private:
  using Type = dnnl::memory::data_type;
  using Tag = dnnl::memory::format_tag;

  Matrix read(const std::string& name, std::int64_t count) {
    Matrix values = read_values<float>(folder_ + "/" + name + ".f32", count);
    round(values);
    return values;
  }
  void round(Matrix& values) const {
    if (format_ == Type::bf16)
      for (float& value : values) value = rounded_to_bf16(value);
  }

  /// The values of the chain around fc, rounded where they are stored.
  void make_operands() {
    x_ = read("x", m_ * kFeatures);
    head_ = read("head.weight", kOutputs * n_);
    w_ = read("fc.weight", n_ * k_);
    h_ = product(x_, read("up.weight", k_ * kFeatures), m_, k_, kFeatures);
    round(h_);
    if (pass_ == "epilogue") bias_ = read_values<float>(folder_ + "/fc.bias.f32", n_);
    if (pass_ == "forward" || pass_ == "epilogue") return;
    // y = h w^T and logits = y head^T, associated the other way round for speed; the loss is the
    // mean of the squared differences to target.
    const Matrix logits =
        product(h_, product(head_, transposed(w_, n_, k_), kOutputs, k_, n_), m_, kOutputs, k_);
    const Matrix target = read_values<float>(folder_ + "/target.f32", m_ * kOutputs);
    Matrix gradient(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
      gradient[i] = 2.0f * (logits[i] - target[i]) / static_cast<float>(logits.size());
    round(gradient);
    g_ = product(gradient, transposed(head_, kOutputs, n_), m_, n_, kOutputs);
    round(g_);
  }

  dnnl::memory memory_of(const Matrix& values, dnnl::memory::dims shape, Type type, Tag tag) {
    dnnl::memory plain({shape, Type::f32, tag}, engine_), result({shape, type, tag}, engine_);
    std::memcpy(plain.get_data_handle(), values.data(), values.size() * sizeof(float));
    dnnl::reorder(plain, result).execute(stream_, plain, result);
    stream_.wait();
    return result;
  }

  Matrix floats(dnnl::memory& memory) {
    const dnnl::memory::dims shape = memory.get_desc().get_dims();
    dnnl::memory plain({shape, Type::f32, Tag::ab}, engine_);
    dnnl::reorder(memory, plain).execute(stream_, memory, plain);
    stream_.wait();
    const auto* first = static_cast<const float*>(plain.get_data_handle());
    return Matrix(first, first + shape[0] * shape[1]);
  }

  void make_primitive(bool packed) {
    dnnl::memory lhs, rhs;
    Type result = format_;
    if (pass_ == "input_gradient") {
      lhs = memory_of(g_, {m_, n_}, format_, Tag::ab);
      rhs = memory_of(w_, {n_, k_}, format_, Tag::ab);
    } else if (pass_ == "weight_gradient") {
      lhs = memory_of(g_, {n_, m_}, format_, Tag::ba);
      rhs = memory_of(h_, {m_, k_}, format_, Tag::ab);
      result = Type::f32;
    } else {
      lhs = memory_of(h_, {m_, k_}, format_, Tag::ab);
      rhs = memory_of(w_, {k_, n_}, format_, Tag::ba);
    }
    const dnnl::memory::dims shape{lhs.get_desc().get_dims()[0], rhs.get_desc().get_dims()[1]};
    dnnl::primitive_attr attributes;
    dnnl::memory::desc bias;
    if (pass_ == "epilogue") {
      dnnl::post_ops after;
      after.append_eltwise(dnnl::algorithm::eltwise_gelu_erf, 0, 0);
      attributes.set_post_ops(after);
      bias = {{1, n_}, Type::f32, Tag::ab};
      rounds_apart_ = format_ == Type::f32;
    }
    dnnl::memory::desc weights = rhs.get_desc();
    if (packed) weights = {rhs.get_desc().get_dims(), format_, Tag::any};
    const dnnl::memory::desc target{shape, result, Tag::ab};
    const dnnl::matmul::primitive_desc chosen =
        bias.is_zero()
            ? dnnl::matmul::primitive_desc(engine_, lhs.get_desc(), weights, target, attributes)
            : dnnl::matmul::primitive_desc(engine_, lhs.get_desc(), weights, bias, target,
                                           attributes);
    if (chosen.weights_desc() != rhs.get_desc()) {
      dnnl::memory reordered(chosen.weights_desc(), engine_);
      dnnl::reorder(rhs, reordered).execute(stream_, rhs, reordered);
      stream_.wait();
      rhs = reordered;
    }
    primitive_ = dnnl::matmul(chosen);
    result_ = dnnl::memory(chosen.dst_desc(), engine_);
    if (rounds_apart_) {
      rounded_ = dnnl::memory({shape, Type::bf16, Tag::ab}, engine_);
      rounding_ = dnnl::reorder(result_, rounded_);
    }
    arguments_ = {{DNNL_ARG_SRC, lhs}, {DNNL_ARG_WEIGHTS, rhs}, {DNNL_ARG_DST, result_}};
    if (!bias.is_zero()) arguments_[DNNL_ARG_BIAS] = memory_of(bias_, {1, n_}, Type::f32, Tag::ab);
  }

  std::string folder_, pass_;
  std::int64_t m_ = 0, k_ = 0, n_ = 0;
  Type format_ = Type::f32;
  Matrix x_, h_, w_, g_, head_, bias_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::matmul primitive_;
  dnnl::memory result_;
  bool rounds_apart_ = false;  ///< a matmul of f32 to bf16 is none of oneDNN's fast ones
  dnnl::reorder rounding_;
  dnnl::memory rounded_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

std::unique_ptr<Contender> make(std::istringstream& words) {
  std::string kind;
  words >> kind;
  if (kind == "matmul") return std::make_unique<Matmul>(words);
  throw std::runtime_error("oneDNN is asked for matmul alone, not '" + kind + "'");
}

}  // namespace

int main(int count, char** values) try {
  if (count == 2 && std::string(values[1]) == "about") {
    const dnnl_version_t* version = dnnl_version();
    std::cout << version->major << "." << version->minor << "." << version->patch << "\n";
    return 0;
  }
  Server(make).serve();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "onednn_worker: " << error.what() << "\n";
  return 1;
}
