import Container
import Core
import FuzzPromises
import Metadata

/// An EXIF block: read, disclosed, built anew; what is built passes the check of finished pictures and reads back as it
/// was. The first byte chooses the policy, the rest is a TIFF structure.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard count > 0, let data else { return 0 }
    let tiff = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
    guard let block = ExifBlock(reading: tiff) else { return 0 }
    let policy = MetadataPolicy(choosing: data[0])
    let disclosure = ExifReading([tiff]).disclosed(by: policy)
    let picture = ExifBuilder.Picture(
        size: PixelSize(width: 4032, height: 3024), isSRGB: data[0] & 64 == 0, isGrey: data[0] & 128 != 0)
    checkDisclosure(disclosure, of: block, policy)
    let result = ExifBuilder.build(block, policy: policy, picture: picture)
    checkResult(result, of: block, policy, picture)
    return 0
}

extension MetadataPolicy {
    fileprivate init(choosing byte: UInt8) {
        let all = Handling.allCases
        self.init(
            exif: all[Int(byte & 3) % all.count], gps: all[Int(byte >> 2 & 3) % all.count],
            gpsPrecision: byte & 16 == 0 ? .exact : .city)
    }
}

private func checkDisclosure(_ disclosure: Disclosure, of block: ExifBlock, _ policy: MetadataPolicy) {
    promise((disclosure.exif == nil) == (policy.exif == .strip), "EXIF against the policy")
    promise((disclosure.gpsStatus == nil) == (policy.gps == .strip), "GPS against the policy")
    promise(policy.gps != .strip || disclosure.position == nil, "a place against the policy")
    promise(block.facts.found == Set(block.foundBytes.keys), "the receipt disagrees with itself")
    guard let position = disclosure.position else { return }
    promise(disclosure.gpsStatus == .present, "a place that is \(disclosure.gpsStatus?.rawValue ?? "not told")")
    promise(abs(position.latitude) <= 90 && abs(position.longitude) <= 180, "a place off the globe")
    guard policy.gpsPrecision == .city else { return }
    promise(position == position.city && position.timestamp == nil && position.altitude == nil, "too precise a place")
}

private func checkResult(
    _ result: ExifBuilder.Result?, of block: ExifBlock, _ policy: MetadataPolicy, _ picture: ExifBuilder.Picture
) {
    promise((result?.kept.contains(.exif) ?? false) == (policy.exif == .keep), "EXIF kept against the policy")
    guard let result else { return }
    promise(result.payload.count <= 65_533, "\(result.payload.count) bytes do not fit a segment")
    let hasPlace = result.kept.contains(.gps)
    promise(!hasPlace || policy.gps == .keep && block.position != nil, "a place from nowhere")
    let place: ExifOutputCheck.Place = !hasPlace ? .none : policy.gpsPrecision == .city ? .city : .exact
    checkPasses(
        result.payload.span,
        ExifOutputCheck.Allowance(hasExif: policy.exif == .keep, place: place, size: picture.size))
    checkReadBack(result, of: block, policy, picture)
}

private func checkPasses(_ payload: Span<UInt8>, _ allowance: ExifOutputCheck.Allowance) {
    do throws(Failure) { try ExifOutputCheck.verify(payload, payload: 0..<payload.count, allowing: allowance) } catch {
        fatalError("broken promise: \(error.detail)")
    }
}

private func checkReadBack(
    _ result: ExifBuilder.Result, of block: ExifBlock, _ policy: MetadataPolicy, _ picture: ExifBuilder.Picture
) {
    guard let again = ExifBlock(reading: Array(result.payload.dropFirst(6))) else {
        fatalError("broken promise: what was built cannot be read")
    }
    promise(!again.isDamaged && !again.hasLatin1, "what was built reads as damaged")
    promise(again.facts.found == result.kept.union([.exif]), "the block holds \(again.facts.found)")
    if policy.exif == .keep {
        promise(again.facts.orientation == .upright, "it is turned twice")
        for field in again.record.fields where !picture.states(field.name) {
            promise(block.record.saysSame(of: field.name, as: again.record), "\(field.name) has changed")
        }
    }
    promise((again.position != nil) == result.kept.contains(.gps), "the place is lost or won")
    if let position = again.position, let expected = block.position?.limited(by: policy) {
        promise(position.isNear(expected), "the place has moved")
        promise(policy.exif == .keep || position.timestamp == nil, "a place tells the time of the capture")
    }
}

extension ExifRecord {
    /// Equal, or equal numbers: a whole number comes back as the fraction that its tag wants.
    fileprivate func saysSame(of name: String, as other: ExifRecord) -> Bool {
        self[name] == other[name] || numbers(name) != nil && numbers(name) == other.numbers(name)
    }
}

extension ExifBuilder.Picture {
    /// Whether the tag speaks of the finished picture, so that the source's value does not count.
    fileprivate func states(_ name: String) -> Bool {
        let names = [
            "Orientation", "XResolution", "YResolution", "ResolutionUnit", "YCbCrPositioning", "ExifVersion",
            "ComponentsConfiguration", "FlashpixVersion", "ColorSpace", "PixelXDimension", "PixelYDimension",
        ]
        return names.contains { name.hasPrefix($0) }
    }
}

extension Position {
    /// Equal but for what a fraction of 32-bit numbers rounds off: 1e-6 of a degree is 11 cm.
    fileprivate func isNear(_ other: Position) -> Bool {
        abs(latitude - other.latitude) < 1e-6 && abs(longitude - other.longitude) < 1e-6
            && imageDirectionReference == other.imageDirectionReference
    }
}
