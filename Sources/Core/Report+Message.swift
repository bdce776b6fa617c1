/// The form of `Report` in a worker's reply.
extension Report {
    func write(to writer: inout ByteWriter) {
        writer.write(path.rawValue)
        writer.write(size)
        writer.write(quality ?? 0)
        writer.write(source.format.rawValue)
        writer.write(source.size)
        writer.write(source.orientation.rawValue)
        writer.write(source.orientationSource.rawValue)
        writer.write(color.source)
        writer.write(color.output)
        writer.write(found.count)
        for kind in Removable.allCases {
            guard let bytes = found[kind] else { continue }
            writer.write(kind.rawValue)
            writer.write(bytes)
        }
        writer.write(words: kept)
        disclosure.write(to: &writer)
        writer.write(words: warnings)
    }

    init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        let path: TranscodePath = try reader.readWord()
        let size = try reader.readSize()
        let quality = try reader.readInt()
        guard (0...100).contains(quality) else { throw ByteReader.Malformed() }
        let source = try Source(from: &reader)
        let color = Color(source: try reader.readString(), output: try reader.readString())
        self.init(
            path: path, size: size, quality: quality == 0 ? nil : quality, source: source, color: color,
            found: try Report.readFound(&reader), kept: try reader.readWords(),
            disclosure: try Disclosure(from: &reader), warnings: try reader.readWords())
    }

    private static func readFound(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> [Removable: Int] {
        let count = try reader.readInt()
        guard (0...Removable.allCases.count).contains(count) else { throw ByteReader.Malformed() }
        var found: [Removable: Int] = [:]
        for _ in 0..<count {
            let kind: Removable = try reader.readWord()
            let bytes = try reader.readInt()
            guard bytes >= 0 else { throw ByteReader.Malformed() }
            found[kind] = bytes
        }
        return found
    }
}

extension Report.Source {
    fileprivate init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        let format: SourceFormat = try reader.readWord()
        let size = try reader.readSize()
        guard let orientation = Orientation(rawValue: try reader.readByte()) else { throw ByteReader.Malformed() }
        self.init(
            format: format, size: size, orientation: orientation, orientationSource: try reader.readWord())
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ size: PixelSize) {
        write(size.width)
        write(size.height)
    }

    fileprivate mutating func write(words: [some RawRepresentable<String>]) {
        write(words.count)
        for word in words { write(word.rawValue) }
    }
}

extension ByteReader {
    fileprivate mutating func readSize() throws(Malformed) -> PixelSize {
        let size = PixelSize(width: try readInt(), height: try readInt())
        guard size.width > 0, size.height > 0, size.pixels != nil else { throw Malformed() }
        return size
    }

    fileprivate mutating func readWords<Word: RawRepresentable<String> & Hashable>() throws(Malformed) -> Set<Word> {
        let count = try readInt()
        guard (0...64).contains(count) else { throw Malformed() }
        var words: Set<Word> = []
        for _ in 0..<count { words.insert(try readWord()) }
        return words
    }
}
