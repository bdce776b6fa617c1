import Foundation

/// Writes the files that the fuzzers start from: `FuzzSeeds FOLDER [CORPUS]` makes `FOLDER/FuzzBoxes/…` and so on, out of
/// pictures of our own making and of a corpus' small files.
///
/// - Returns: the exit code.
func run(_ arguments: [String]) -> Int32 {
    guard (2...3).contains(arguments.count) else {
        print("usage: FuzzSeeds FOLDER [CORPUS]")
        return 2
    }
    do {
        var seeds = try OwnSeeds.all()
        if arguments.count == 3 { seeds += try CorpusSeeds.all(in: URL(fileURLWithPath: arguments[2])) }
        let root = URL(fileURLWithPath: arguments[1])
        for seed in seeds { try seed.write(to: root) }
        for (fuzzer, own) in Dictionary(grouping: seeds, by: \.fuzzer).sorted(by: { $0.key < $1.key }) {
            print("\(own.count) seeds for \(fuzzer)")
        }
        return 0
    } catch {
        print("FuzzSeeds: \(error)")
        return 1
    }
}

struct Seed {
    let fuzzer: String
    let name: String
    let bytes: [UInt8]

    init(_ fuzzer: String, _ name: String, _ bytes: [UInt8]) {
        self.fuzzer = fuzzer
        self.name = name
        self.bytes = bytes
    }

    func write(to root: URL) throws {
        let folder = root.appendingPathComponent(fuzzer)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: folder.appendingPathComponent(name))
    }
}

/// What the first bytes of some fuzzers' inputs choose.
enum Choice {
    /// EXIF and place kept; kept to the city; stripped.
    static let policies: [UInt8] = [0b0000_1010, 0b0001_1010, 0]
    /// As it is; progressive and narrow, with what EXIF tells; cropped, in sRGB, within a budget, 4:4:4, with a place to the
    /// city, on two threads; not turned, and only inspected.
    static let options: [[UInt8]] = [
        [0, 0], [0b0000_0011, 0b0000_1010], [0b0011_1100, 0b0101_1010], [0b1100_0000, 0b0010_0101],
    ]
}
