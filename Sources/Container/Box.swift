import Core

/// A box of the ISO base media file format (ISO/IEC 14496-12, section 4.2).
struct Box {
    let type: FourCC
    /// What follows the header (of a `uuid` box: its 16-byte type and then the rest).
    let payload: Range<Int>
    /// Header and payload.
    let range: Range<Int>

    /// The box that starts at `position` and must end within `limit`.
    ///
    /// - Throws: `truncated` where it runs past the end of the file, `corrupt` where past the box around it, or where
    ///   it is smaller than its header.
    init(at position: Int, within limit: Int, of bytes: Span<UInt8>) throws(Failure) {
        let code: Failure.Code = limit == bytes.count ? .truncated : .corrupt
        guard limit - position >= 8, let short = bytes.bigEndian32(at: position),
            let type = FourCC(at: position + 4, of: bytes)
        else { throw Failure(code, "HEIF: a box header is cut at byte \(position)") }
        var header = 8
        var size = UInt64(short)
        switch short {
        case 0: size = UInt64(limit - position)
        case 1:
            guard limit - position >= 16, let high = bytes.bigEndian32(at: position + 8),
                let low = bytes.bigEndian32(at: position + 12)
            else { throw Failure(code, "HEIF: a box header is cut at byte \(position)") }
            header = 16
            size = UInt64(high) << 32 | UInt64(low)
        default: break
        }
        guard size >= UInt64(header) else {
            throw Failure(.corrupt, "HEIF: the box '\(type.text)' has the size \(size)")
        }
        guard size <= UInt64(limit - position) else {
            throw Failure(code, "HEIF: the box '\(type.text)' has \(size) bytes; \(limit - position) are there")
        }
        self.type = type
        range = position..<(position + Int(size))
        payload = (position + header)..<range.upperBound
    }
}

/// Reads the fields of a box from the front; a read past its end throws `corrupt`, naming the box.
struct BoxReader {
    private let type: FourCC
    private(set) var position: Int
    let end: Int

    init(_ box: Box) {
        type = box.type
        position = box.payload.lowerBound
        end = box.payload.upperBound
    }

    var isAtEnd: Bool { position >= end }
    var rest: Range<Int> { position..<end }

    /// An unsigned number of `width` bytes, 0…8. (0 bytes are the number 0: `iloc` has such fields.)
    mutating func number(_ width: Int, _ bytes: Span<UInt8>) throws(Failure) -> UInt64 {
        guard end - position >= width else { throw tooShort }
        var value: UInt64 = 0
        for index in 0..<width { value = value << 8 | UInt64(bytes[position + index]) }
        position += width
        return value
    }

    /// A number of 1…4 bytes.
    mutating func int(_ width: Int, _ bytes: Span<UInt8>) throws(Failure) -> Int {
        Int(truncatingIfNeeded: try number(min(width, 4), bytes))
    }

    /// The next `count` bytes, unread.
    mutating func take(_ count: Int) throws(Failure) -> Range<Int> {
        guard end - position >= count else { throw tooShort }
        defer { position += count }
        return position..<(position + count)
    }

    mutating func fourCC(_ bytes: Span<UInt8>) throws(Failure) -> FourCC {
        FourCC(rawValue: UInt32(truncatingIfNeeded: try number(4, bytes)))
    }

    /// The version and flags of a FullBox.
    mutating func version(_ bytes: Span<UInt8>) throws(Failure) -> (version: Int, flags: Int) {
        let word = try int(4, bytes)
        return (word >> 24, word & 0xFF_FFFF)
    }

    /// A text that a NUL or the end of the box ends; at most 256 characters of it, what is not ASCII as `?`.
    mutating func text(_ bytes: Span<UInt8>) throws(Failure) -> String {
        let stop = bytes.firstIndex(of: 0, in: rest) ?? end
        var characters: [UInt8] = []
        for index in position..<min(stop, position + 256) {
            characters.append((0x20..<0x7F).contains(bytes[index]) ? bytes[index] : UInt8(ascii: "?"))
        }
        position = min(stop + 1, end)
        return String(decoding: characters, as: UTF8.self)
    }

    /// The next box inside this one, or nil at the end.
    mutating func box(_ bytes: Span<UInt8>) throws(Failure) -> Box? {
        guard position < end else { return nil }
        let box = try Box(at: position, within: end, of: bytes)
        position = box.range.upperBound
        return box
    }

    private var tooShort: Failure { Failure(.corrupt, "HEIF: the box '\(type.text)' ends too early") }
}
