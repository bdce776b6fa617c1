import Core

extension Limits {
    /// - Parameter subject: what has this size, for the message.
    /// - Throws: `corrupt` for an empty picture, `too_many_pixels`, naming value and limit.
    func check(_ size: PixelSize, _ subject: String) throws(Failure) {
        guard size.width > 0, size.height > 0 else { throw Failure(.corrupt, "\(subject) is \(size) pixels large") }
        guard let pixels = size.pixels, pixels <= pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "\(subject) has \(size) = \(size.pixels.map(String.init) ?? "too many") pixels; the limit is \(pixelsMax)"
            )
        }
    }
}
