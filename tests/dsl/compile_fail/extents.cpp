// SPDX-License-Identifier: Apache-2.0
// Shapes with more elements than there may be (D4).
#include <cases.hpp>

// EXPECT concat_width: layer 'both' needs more elements than 1099511627776: make its dimensions
// smaller
namespace concat_width {
constexpr auto net = model("net",
                           inputs(tensor("x", batch, 0x8000000000),
                                  tensor("w", batch, either(0x8000000001, 0x8000000000))),
                           from("x") | concat("w") | as("both") | output("z"));
MODEL(net, rules)
}  // namespace concat_width

// EXPECT input_count: input 'x' has more than 1099511627776 elements: make its dimensions smaller
namespace input_count {
constexpr auto net =
    model("net", inputs(tensor("x", batch, either(0x4000000000000000, 0x4000000000), 4)),
          from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace input_count

// EXPECT extent_times: input 'x' has more than 1099511627776 elements: make its dimensions smaller
namespace extent_times {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, either(0x4000000000000000, 0x4000000000) * Dimension(4))),
    from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace extent_times

// EXPECT upsampled_count: layer 'up' needs more elements than 1099511627776: make its dimensions
// smaller
namespace upsampled_count {
constexpr auto net = model("net", inputs(tensor("x", batch, 0x8000000000, 1)),
                           from("x") | upsample1d("up", either(4, 2)) | output("z"));
MODEL(net, rules)
}  // namespace upsampled_count

// EXPECT weight_count: layer 'fc' needs more elements than 1099511627776: make its dimensions
// smaller
namespace weight_count {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 0x100000), tensor("y", batch, either(0x100001, 0x100000))),
    from("x") | linear("fc", either(0x100001, 0x100000)) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace weight_count
