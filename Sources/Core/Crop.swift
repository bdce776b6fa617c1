/// Which part of the upright picture is taken.
package enum Crop: Sendable, Equatable {
    /// The largest centred rectangle whose sides are as these numbers, each at least 1.
    case ratio(Int, Int)
    case rectangle(PixelRectangle)
}
