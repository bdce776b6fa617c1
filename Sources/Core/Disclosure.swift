/// What a caller gets to read of a photo's metadata: what the policy lets through, and nothing else.
package struct Disclosure: Sendable, Equatable {
    /// nil where EXIF is stripped; without fields where the photo has none.
    package var exif: ExifRecord?
    package var capture: Capture?
    /// nil where the place is stripped.
    package var gpsStatus: GPSStatus?
    package var position: Position?

    package init() {}

    /// As the policy has it, whoever filled it in.
    package func limited(by policy: MetadataPolicy) -> Disclosure {
        var limited = Disclosure()
        if policy.exif != .strip {
            limited.exif = exif.map { ExifRecord(fields: $0.fields.filter { !$0.name.hasPrefix("GPS") }) }
            limited.capture = capture
        }
        if policy.gps != .strip {
            limited.gpsStatus = gpsStatus
            limited.position = position?.limited(by: policy)
        }
        return limited
    }
}
