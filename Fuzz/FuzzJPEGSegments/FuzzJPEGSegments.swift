import Codecs
import Container
import Core
import FuzzPromises

/// The segments of a JPEG, the proof of its data, and the check of a finished picture. Where both take a picture, a copy of
/// it passes the check, and libjpeg decodes it without a complaint about its data.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let raw = UnsafeRawBufferPointer(start: data, count: count)
    let bytes = UnsafeBufferPointer(start: data, count: count).span
    let structure = survey(bytes)
    let proof = prove(raw)
    checkOutputCheck(bytes, structure)
    if let structure, let proof { check(structure, proof, of: bytes, raw) }
    return 0
}

/// What a decoder may hold: pictures of the size that decodes fast are let through, and no others.
private let bytesMax = 16 << 20

private func survey(_ bytes: Span<UInt8>) -> JPEGStructure? {
    do throws(Failure) {
        let structure = try JPEGStructure(parsing: bytes, limits: Limits())
        let ranges = structure.carried.ranges + structure.exif.flatMap(\.ranges) + [structure.trailer]
        promise(ranges.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= bytes.count }, "a range beyond the file")
        promise(structure.scanCount > 0 && (structure.frame.size.pixels ?? 0) > 0, "a JPEG without a picture")
        return structure
    } catch {
        error.promiseRefusal()
        return nil
    }
}

private func prove(_ bytes: UnsafeRawBufferPointer) -> EntropyProof? {
    do throws(CodecError) { return try EntropyProof.prove(bytes, bytesMax: bytesMax) } catch {
        promise(error.kind != .output, error.message)
        return nil
    }
}

/// Nothing passes but what ends in its only EOI, and is the size that is asked for.
private func checkOutputCheck(_ bytes: Span<UInt8>, _ structure: JPEGStructure?) {
    let size = structure?.frame.size ?? PixelSize(width: 16, height: 16)
    do throws(Failure) {
        try OutputCheck.verify(bytes, size: size)
        guard let structure else { fatalError("broken promise: the check passes what the survey refuses") }
        promise(structure.hasEOI && structure.trailer.isEmpty, "the check passes bytes after EOI")
        promise(structure.isCopyable, "the check passes what is not the picture")
        promise(structure.exif.isEmpty && structure.found.isEmpty, "the check passes \(structure.found.keys)")
    } catch {
        promise(error.code == .selfCheckFailed, error.detail)
    }
}

private func check(
    _ structure: JPEGStructure, _ proof: EntropyProof, of bytes: Span<UInt8>, _ raw: UnsafeRawBufferPointer
) {
    promise(proof.frame.size == structure.frame.size, "two sizes: \(proof.frame.size) and \(structure.frame.size)")
    promise(proof.hasEOI == structure.hasEOI, "one saw EOI, the other did not")
    guard structure.isCopyable, structure.hasEOI, !proof.hasStrayData, !structure.frame.isArithmetic,
        structure.frame.components.count < 4
    else { return }
    guard let preamble = try? JPEGPreamble.bytes(profile: []) else { return }
    let copy = preamble + structure.carried.bytes(in: bytes) + [0xFF, 0xD9]
    copy.withUnsafeBytes { copy in
        copy.withMemoryRebound(to: UInt8.self) { checkPasses($0.span, size: structure.frame.size) }
        promise(prove(copy).map { !$0.hasStrayData } ?? false, "a copy of a proved picture is not proved")
        decode(copy)
    }
}

private func checkPasses(_ copy: Span<UInt8>, size: PixelSize) {
    do throws(Failure) { try OutputCheck.verify(copy, size: size) } catch {
        fatalError("broken promise: a copy fails its check: \(error.detail)")
    }
}

/// What the proof has passed, libjpeg finds no fault with.
private func decode(_ bytes: UnsafeRawBufferPointer) {
    do throws(CodecError) {
        var source = try JPEGSource.opening(bytes, inks: nil, divisor: 1, bytesMax: bytesMax)
        while try source.nextBand() != nil {}
    } catch {
        promise(error.kind == .unsupported || error.kind == .outOfMemory, "proved, and then: \(error.message)")
    }
}
