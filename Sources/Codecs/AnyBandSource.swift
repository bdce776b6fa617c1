/// Any source, so that the steps of a picture's way can be put one behind the other as they are needed. What that costs
/// is one indirect call a band.
package struct AnyBandSource: BandSource, ~Copyable {
    package let format: PictureFormat
    private let next: () throws(CodecError) -> Band?

    package init<Source: BandSource & ~Copyable>(_ source: consuming Source) {
        format = source.format
        let owner = SourceOwner(source)
        next = { () throws(CodecError) in try owner.source.nextBand() }
    }

    package mutating func nextBand() throws(CodecError) -> Band? { try next() }
}

private final class SourceOwner<Source: BandSource & ~Copyable> {
    var source: Source

    init(_ source: consuming Source) { self.source = source }
}
