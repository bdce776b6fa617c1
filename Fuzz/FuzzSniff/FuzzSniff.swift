import Container
import Core
import FuzzPromises

/// What the first bytes say a file is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: count)
    let whole = sniff(bytes)
    promise(sniff(bytes, prefix: Sniffer.prefixLength) == whole, "bytes past the prefix count")
    // From the length of the shortest box with a brand on, a cut prefix says the same or nothing.
    for length in [12, 16, 20, 24, 32, 64, 128] where length < count {
        let early = sniff(bytes, prefix: length)
        promise(early == .unknown || early == whole, "\(length) bytes say \(early), all say \(whole)")
    }
    if case .refused(let mediaType) = whole {
        promise(mediaType.split(separator: "/").count == 2, "the media type \(mediaType)")
    }
    return 0
}

private func sniff(_ bytes: UnsafeBufferPointer<UInt8>, prefix: Int = .max) -> Sniffed {
    Sniffer.sniff(bytes.extracting(..<min(prefix, bytes.count)).span)
}
