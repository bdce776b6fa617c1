import Core

/// That the entropy-coded data of a JPEG is whole: every code defined, every MCU there, every scan that the picture
/// needs. Not whether the picture is the one that was taken: damage that makes other lawful codes cannot be seen.
package struct EntropyProof: Sendable, Equatable {
    /// Something odd but harmless was met: stray bytes, unlawful parameters that nothing depends on, no EOI.
    package let isIrregular: Bool
    /// From the first scan on there are bytes that no decoder needs: a copy that ends at `end` would carry them along.
    package let hasStrayData: Bool
    /// How many bytes the picture has, with its EOI if it has one.
    package let end: Int
    package let hasEOI: Bool
    package let frame: JPEGGeometry

    /// Proves the first picture in `bytes`, which begin with its SOI. Sequential Huffman coding, which phones write, is
    /// decoded here in no memory and strictly; the rest by libjpeg, which holds all coefficients. Lossless coding has
    /// its own source, which proves as it decodes.
    ///
    /// - Parameter bytesMax: what libjpeg may hold in memory.
    /// - Throws: `corrupt`, `truncated`, `unsupported`, `outOfMemory`.
    package static func prove(
        _ bytes: UnsafeRawBufferPointer, bytesMax: Int = .max
    ) throws(CodecError) -> EntropyProof {
        var walk = JPEGWalk(bytes)
        return try prove(bytes, by: &walk, bytesMax: bytesMax)
    }

    /// - Parameter walk: of these bytes, not run yet.
    static func prove(
        _ bytes: UnsafeRawBufferPointer, by walk: inout JPEGWalk, bytesMax: Int
    ) throws(CodecError) -> EntropyProof {
        var isIrregular = try walk.run()
        guard let frame = walk.frame else { throw CodecError(.corrupt, "no frame") }
        switch walk.coding {
        case .sequential: break
        case .lossless: throw CodecError(.unsupported, "lossless coding")
        case .other:
            var decoder = try JPEGDecoder.opening(bytes, bytesMax: bytesMax)
            _ = try decoder.readHeader()
            try decoder.prove()
            isIrregular = isIrregular || decoder.isIrregular
        }
        return EntropyProof(
            isIrregular: isIrregular, hasStrayData: walk.hasStrayData, end: walk.position, hasEOI: walk.hasEOI,
            frame: frame)
    }
}
