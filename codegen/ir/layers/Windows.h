// SPDX-License-Identifier: Apache-2.0
// Windows over the spatial dimensions of tensors [images..., spatial..., channels] (D77): what they
// hold, side by side, so that a contraction sums over it, or element by element.
#ifndef HALFTONE_IR_LAYERS_WINDOWS_H
#define HALFTONE_IR_LAYERS_WINDOWS_H

#include "codegen/ir/Continuation.h"
#include "codegen/ir/Forms.h"

namespace halftone::ir {

class Windows {
public:
  using Numbers = llvm::ArrayRef<int64_t>;

  /// Numbers that are absent are 1, or 0 of padding.
  Windows(Numbers kernel, std::optional<Numbers> stride, std::optional<Numbers> dilation,
          std::optional<Numbers> padding, int64_t groups);

  /// How many elements a window has.
  int64_t countTaps() const;
  /// Whether every window is one element, and every element a window.
  bool areElements() const;
  /// Whether windows may have elements outside of what they lie over.
  bool arePadded() const;
  /// Whether x, of so many dimensions before its channels, has `windows`.
  bool fit(TensorType x, TensorType windows) const;

  /// What every window of x holds, as a matrix: [groups, images..., windows..., taps * channels of
  /// a group], `windows` being the type that has a place for each. One group has no dimension.
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                     TensorType windows) const;
  /// The other way round: for every place of `inputs` what g holds of the windows that it is an
  /// element of, tap by tap.
  mlir::Value scatter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value g,
                      TensorType inputs) const;

  /// [groups, rows..., channels of a group] of [rows..., channels], and back in the shape of
  /// `like`.
  mlir::Value cut(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x) const;
  mlir::Value join(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                   TensorType like) const;

  /// A weight [outputs, kernel..., channels of a group] as [groups, outputs of a group, taps *
  /// channels], and as [groups, taps * outputs of a group, channels], which is summed the other
  /// way.
  mlir::Value asRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weight) const;
  mlir::Value asColumns(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weight) const;

  /// Back from such columns, each turned into a row, [groups, channels, taps * outputs of a group],
  /// to the dimensions of a weight.
  mlir::Value asWeight(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value rows,
                       TensorType weight) const;

  /// lhs times rhs, of matrices as the above leave them, for every group.
  mlir::Value multiply(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs,
                       mlir::Value rhs, bool turnsLhs, bool turnsRhs, ContractionPass pass,
                       llvm::StringRef label = {}) const;

  /// What a layer's products, in its shape, become: the internal value `product`, then a bias if
  /// any.
  mlir::Value finish(mlir::OpBuilder &builder, mlir::Operation *layer, mlir::Value product,
                     mlir::Value bias) const;

  /// Whether every channel of x is summed by itself, into one of y, over few enough elements that a
  /// map reads them one after another.
  bool areOfChannels(TensorType x, TensorType y) const;
  /// For every element of `result` the chain (N1) over the elements p of the kernel of (weight_cp,
  /// of `operand` what reads[p] finds), where windows are of channels.
  mlir::Value chain(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                    mlir::Value weight, mlir::Value operand, llvm::ArrayRef<AccessAttr> reads,
                    TensorType result) const;

  /// How a domain of windows reads of x what each holds, element by element in row-major order;
  /// and how one of places reads of `windows`, for each element, the window that has it there.
  llvm::SmallVector<AccessAttr> readElements(TensorType windows, TensorType x) const;
  llvm::SmallVector<AccessAttr> readWindows(TensorType x, TensorType windows) const;
  /// Whether the element of the window at hand lies in x; null where that of every window does.
  mlir::Value isInside(Scalars &s, TensorType windows, TensorType x, int64_t element) const;
  /// How many of its elements do, as f32.
  mlir::Value countInside(Scalars &s, TensorType windows, TensorType x) const;

private:
  struct Along {
    int64_t kernel, stride, dilation, before, after;
    bool isElement() const { return kernel == 1 && stride == 1 && before == 0 && after == 0; }
  };
  /// Where a window's element lies along one dimension, from axes of a domain, and a term that is 0
  /// where it lies somewhere.
  struct Place {
    mlir::AffineExpr at, remainder;
  };
  using FindPlace = llvm::function_ref<Place(const Along &, mlir::AffineExpr, mlir::AffineExpr)>;
  static Place findElement(const Along &along, mlir::AffineExpr window, mlir::AffineExpr element);
  static Place findWindow(const Along &along, mlir::AffineExpr place, mlir::AffineExpr element);
  mlir::Value collect(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                      mlir::Value x, TensorType places, FindPlace find) const;
  llvm::SmallVector<AccessAttr> read(TensorType domain, TensorType operand, FindPlace find) const;
  /// Where an element lies along each dimension of its window.
  llvm::SmallVector<int64_t> takeApart(int64_t element) const;
  /// Of element `number` along dimension `d`.
  mlir::Value isInsideAlong(Scalars &s, TensorType windows, TensorType x, size_t d,
                            int64_t number) const;
  bool isCut() const { return groups > 1; }

  llvm::SmallVector<Along> spatial;
  int64_t groups;
};

/// Verifies the settings of windows, on `op`.
llvm::LogicalResult verifyWindows(mlir::Operation *op, Windows::Numbers kernel,
                                  std::optional<Windows::Numbers> stride,
                                  std::optional<Windows::Numbers> dilation,
                                  std::optional<Windows::Numbers> padding, int64_t groups);
/// Verifies weight, [outputs of y, kernel..., channels of a group of x], and bias, if any.
llvm::LogicalResult verifyWindowWeights(mlir::Operation *op, TensorType x, TensorType y,
                                        Windows::Numbers kernel, int64_t groups, mlir::Value weight,
                                        mlir::Value bias);
/// Layer::continueFrom of a layer whose windows lie over the last `spatial` dimensions of rows of
/// x.
llvm::LogicalResult continueWindows(mlir::Operation *layer, TensorType x, size_t spatial,
                                    const Continuation &before);

} // namespace halftone::ir

#endif
