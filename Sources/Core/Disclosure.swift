/// What a caller gets to read of a photo's metadata: what the policy lets through, and nothing else.
package struct Disclosure: Sendable, Equatable {
    /// nil where EXIF is stripped; without fields where the photo has none.
    package var exif: ExifRecord?
    package var capture: Capture?
    /// nil where the place is stripped.
    package var gpsStatus: GPSStatus?
    package var position: Position?

    package init() {}
}
