import CEXIF
import Glibc

/// Owns libexif's tree of one EXIF block.
struct ExifData: ~Copyable {
    private let raw: UnsafeMutablePointer<CEXIF.ExifData>

    private init(adopting raw: UnsafeMutablePointer<CEXIF.ExifData>) { self.raw = raw }

    deinit { exif_data_unref(raw) }

    /// An empty tree that is written in big-endian order. Nothing is repaired or filled in, neither on load nor later.
    static func empty() -> ExifData {
        guard let raw = exif_data_new() else { fatalError("out of memory") }
        exif_data_unset_option(raw, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION)
        exif_data_unset_option(raw, EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS)
        exif_data_set_byte_order(raw, EXIF_BYTE_ORDER_MOTOROLA)
        return ExifData(adopting: raw)
    }

    static func loading(_ block: CompactBlock) -> ExifData {
        let data = ExifData.empty()
        // libexif knows a block by this header alone; without it it would search for an APP1 segment.
        let bytes = Array("Exif\0\0".utf8) + block.bytes
        exif_data_load_data(data.raw, bytes, UInt32(bytes.count))
        return data
    }

    private func content(_ directory: StandardTag.Directory) -> UnsafeMutablePointer<ExifContent>? {
        let ifd =
            switch directory {
            case .image: EXIF_IFD_0
            case .exif: EXIF_IFD_EXIF
            case .gps: EXIF_IFD_GPS
            case .interoperability: EXIF_IFD_INTEROPERABILITY
            }
        return withUnsafeBytes(of: raw.pointee.ifd) {
            $0.bindMemory(to: UnsafeMutablePointer<ExifContent>?.self)[Int(ifd.rawValue)]
        }
    }

    /// - Returns: nil where libexif found the entry unreadable.
    func value(_ key: StandardTag.Key) -> TIFFValue? {
        let tag = ExifTag(rawValue: UInt32(key.number))
        guard let entry = exif_content_get_entry(content(key.directory), tag)?.pointee, let data = entry.data,
            let type = TIFFType(rawValue: UInt16(truncatingIfNeeded: entry.format.rawValue))
        else { return nil }
        let order = exif_data_get_byte_order(raw)
        let starts = stride(from: 0, to: Int(entry.size) - type.size + 1, by: type.size)
        let integers = { (read: (UnsafePointer<UInt8>) -> Int) in
            TIFFValue.integers(starts.map { read(UnsafePointer(data + $0)) })
        }
        switch type {
        case .ascii, .utf8: return .text(Array(UnsafeBufferPointer(start: data, count: Int(entry.size))))
        case .undefined: return .undefined(Array(UnsafeBufferPointer(start: data, count: Int(entry.size))))
        case .byte: return integers { Int($0.pointee) }
        case .signedByte: return integers { Int(Int8(bitPattern: $0.pointee)) }
        case .short: return integers { Int(exif_get_short($0, order)) }
        case .signedShort: return integers { Int(exif_get_sshort($0, order)) }
        case .long, .directory: return integers { Int(exif_get_long($0, order)) }
        case .signedLong: return integers { Int(exif_get_slong($0, order)) }
        case .rational:
            return .rationals(
                starts.map {
                    let pair = exif_get_rational(data + $0, order)
                    return Rational(numerator: Int(pair.numerator), denominator: Int(pair.denominator))
                })
        case .signedRational:
            return .rationals(
                starts.map {
                    let pair = exif_get_srational(data + $0, order)
                    return Rational(numerator: Int(pair.numerator), denominator: Int(pair.denominator))
                })
        case .float:
            return .reals(starts.map { Double(Float(bitPattern: exif_get_long(data + $0, order))) })
        case .double:
            return .reals(
                starts.map {
                    let halves = (exif_get_long(data + $0, order), exif_get_long(data + $0 + 4, order))
                    let (high, low) = order == EXIF_BYTE_ORDER_MOTOROLA ? halves : (halves.1, halves.0)
                    return Double(bitPattern: UInt64(high) << 32 | UInt64(low))
                })
        }
    }

    /// Adds an entry. `bytes` is its value in big-endian order, whole elements of `type`, and not empty.
    mutating func insert(_ key: StandardTag.Key, _ type: TIFFType, _ bytes: [UInt8]) {
        precondition(!bytes.isEmpty && bytes.count % type.size == 0)
        // The tree frees the entry and its value by the allocator that the entry came from.
        guard let memory = exif_mem_new_default(), let entry = exif_entry_new_mem(memory),
            let data = exif_mem_alloc(memory, UInt32(bytes.count))
        else { fatalError("out of memory") }
        data.copyMemory(from: bytes, byteCount: bytes.count)
        entry.pointee.tag = ExifTag(rawValue: UInt32(key.number))
        entry.pointee.format = ExifFormat(rawValue: UInt32(type.rawValue))
        entry.pointee.components = UInt(bytes.count / type.size)
        entry.pointee.data = data.assumingMemoryBound(to: UInt8.self)
        entry.pointee.size = UInt32(bytes.count)
        exif_content_add_entry(content(key.directory), entry)
        exif_entry_unref(entry)
        exif_mem_unref(memory)
    }

    /// The block, `Exif\0\0` before it.
    func saved() -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt32 = 0
        exif_data_save_data(raw, &bytes, &count)
        guard let bytes, count > 0 else { fatalError("out of memory") }
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}
