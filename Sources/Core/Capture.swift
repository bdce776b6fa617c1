/// The ten things of EXIF that an application asks for first; each nil where the block does not tell it.
package struct Capture: Sendable, Equatable {
    /// RFC 3339, with the offset from UTC where the block tells it; else local time without a zone.
    package var takenAt: String?
    package var cameraMake: String?
    package var cameraModel: String?
    package var lens: String?
    /// Seconds.
    package var exposureTime: Double?
    package var fNumber: Double?
    package var iso: Int?
    /// Millimetres.
    package var focalLength: Double?
    /// Millimetres, of the same angle of view on 35 mm film.
    package var focalLength35mm: Double?
    package var flashFired: Bool?

    package init() {}
}
