/// What of the data of a profile's tag means something to its type, by ICC.1:2022, section 10. The rest, reserved bytes
/// and whatever lies between and behind, is zeroed or cut off, so that no words ride along.
struct ProfileData {
    /// The data is not of a type that its tag may have, or cut short.
    struct Unsound: Error {}

    private let bytes: [UInt8]
    private var claims: [Range<Int>] = []
    private var claimed = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The claimed bytes where they lie, up to the last of them.
    ///
    /// Parts may share bytes, but not so that it takes long.
    func meaning() throws(Unsound) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: claims.map(\.upperBound).max() ?? 0)
        guard claimed <= 4 * result.count else { throw Unsound() }
        for range in claims { result.replaceSubrange(range, with: bytes[range]) }
        return result
    }

    func number(_ width: Int, at offset: Int) throws(Unsound) -> Int {
        guard offset >= 0, offset <= bytes.count - width else { throw Unsound() }
        return bytes[offset..<(offset + width)].reduce(0) { $0 << 8 | Int($1) }
    }

    func type(at offset: Int = 0) throws(Unsound) -> String {
        guard offset >= 0, offset <= bytes.count - 4 else { throw Unsound() }
        return String(decoding: bytes[offset..<(offset + 4)], as: UTF8.self)
    }

    mutating func claim(_ count: Int, at offset: Int) throws(Unsound) {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { throw Unsound() }
        claimed += count
        guard claimed <= 4 * bytes.count else { throw Unsound() }
        claims.append(offset..<(offset + count))
    }

    /// A product that is no more than there are bytes.
    func product(_ factors: [Int]) throws(Unsound) -> Int {
        var result = 1
        for factor in factors {
            // Both are below 2³², so that it cannot overflow.
            result *= factor
            guard result <= bytes.count else { throw Unsound() }
        }
        return result
    }
}

extension ProfileData {
    /// `curv` or `para` (sections 10.6 and 10.18).
    ///
    /// - Returns: where it ends.
    @discardableResult
    mutating func takeCurve(at start: Int = 0) throws(Unsound) -> Int {
        try claim(4, at: start)
        switch try type(at: start) {
        case "curv":
            let count = try number(4, at: start + 8)
            try claim(4 + 2 * count, at: start + 8)
            return start + 12 + 2 * count
        case "para":
            let kind = try number(2, at: start + 8)
            guard kind < 5 else { throw Unsound() }
            let size = 4 * [1, 3, 4, 5, 7][kind]
            try claim(2, at: start + 8)
            try claim(size, at: start + 12)
            return start + 12 + size
        default: throw Unsound()
        }
    }

    /// A type whose whole content is `count` bytes behind the reserved ones: `XYZ ` of one colour, `sf32`, `cicp`.
    mutating func takePlain(_ wanted: String, count: Int) throws(Unsound) {
        guard try type() == wanted else { throw Unsound() }
        try claim(4, at: 0)
        try claim(count, at: 8)
    }

    /// `mft1`, `mft2` and the one of `mAB ` and `mBA ` that the direction allows (sections 10.10 to 10.13).
    mutating func takeTable(inputs: Int, outputs: Int, isToConnection: Bool) throws(Unsound) {
        guard try number(1, at: 8) == inputs, try number(1, at: 9) == outputs else { throw Unsound() }
        try claim(4, at: 0)
        switch try type() {
        case "mft1": try takeOldTable(inputs, outputs, width: 1)
        case "mft2": try takeOldTable(inputs, outputs, width: 2)
        case "mAB " where isToConnection: try takeStages(inputs, outputs, curves: [outputs, outputs, inputs])
        case "mBA " where !isToConnection: try takeStages(inputs, outputs, curves: [inputs, inputs, outputs])
        default: throw Unsound()
        }
    }

    private mutating func takeOldTable(_ inputs: Int, _ outputs: Int, width: Int) throws(Unsound) {
        let points = Array(repeating: try number(1, at: 10), count: inputs)
        var (before, after, start) = (256, 256, 48)
        if width == 2 {
            (before, after, start) = (try number(2, at: 48), try number(2, at: 50), 52)
            try claim(4, at: 48)
        }
        try claim(3, at: 8)
        try claim(36, at: 12)
        let grid = try product(points + [outputs])
        try claim(width * (before * inputs + grid + after * outputs), at: start)
    }

    /// - Parameter curves: how many B, M and A curves there are.
    private mutating func takeStages(_ inputs: Int, _ outputs: Int, curves: [Int]) throws(Unsound) {
        try claim(2, at: 8)
        try claim(20, at: 12)
        var places: [Int] = []
        for offset in stride(from: 12, to: 32, by: 4) {
            let place = try number(4, at: offset)
            guard place == 0 || place >= 32 else { throw Unsound() }
            places.append(place)
        }
        for (place, count) in zip([places[0], places[2], places[4]], curves) where place > 0 {
            var at = place
            for _ in 0..<count { at = (try takeCurve(at: at) + 3) & ~3 }
        }
        if places[1] > 0 { try claim(48, at: places[1]) }
        guard places[3] > 0 else { return }
        var points: [Int] = []
        for index in 0..<inputs { points.append(try number(1, at: places[3] + index)) }
        let width = try number(1, at: places[3] + 16)
        guard width == 1 || width == 2 else { throw Unsound() }
        try claim(inputs, at: places[3])
        try claim(1, at: places[3] + 16)
        try claim(width * (try product(points + [outputs])), at: places[3] + 20)
    }
}

extension ProfileData {
    /// `mpet`: stages of floating-point numbers (section 10.16).
    mutating func takeElements(inputs: Int, outputs: Int) throws(Unsound) {
        guard try type() == "mpet", try number(2, at: 8) == inputs, try number(2, at: 10) == outputs else {
            throw Unsound()
        }
        let count = try number(4, at: 12)
        guard (1...16).contains(count) else { throw Unsound() }
        try claim(4, at: 0)
        try claim(8 + 8 * count, at: 8)
        for index in 0..<count { try takeElement(at: try number(4, at: 16 + 8 * index)) }
    }

    private mutating func takeElement(at start: Int) throws(Unsound) {
        let (inputs, outputs) = (try number(2, at: start + 8), try number(2, at: start + 10))
        guard (1...16).contains(inputs), (1...16).contains(outputs) else { throw Unsound() }
        try claim(4, at: start)
        try claim(4, at: start + 8)
        switch try type(at: start) {
        case "matf": try claim(4 * (inputs + 1) * outputs, at: start + 12)
        case "clut":
            var points: [Int] = []
            for index in 0..<inputs { points.append(try number(1, at: start + 12 + index)) }
            try claim(inputs, at: start + 12)
            try claim(4 * (try product(points + [outputs])), at: start + 28)
        case "cvst":
            try claim(8 * inputs, at: start + 12)
            for index in 0..<inputs { try takeSegments(at: start + (try number(4, at: start + 12 + 8 * index))) }
        // Place-holders, whose own word no reader uses.
        case "bACS", "eACS": break
        default: throw Unsound()
        }
    }

    private mutating func takeSegments(at start: Int) throws(Unsound) {
        let count = try number(2, at: start + 8)
        guard try type(at: start) == "curf", count > 0 else { throw Unsound() }
        try claim(4, at: start)
        try claim(2, at: start + 8)
        try claim(4 * (count - 1), at: start + 12)
        var at = start + 12 + 4 * (count - 1)
        for _ in 0..<count {
            try claim(4, at: at)
            switch try type(at: at) {
            case "parf":
                let kind = try number(2, at: at + 8)
                guard kind < 3 else { throw Unsound() }
                let size = 4 * [4, 5, 5][kind]
                try claim(2, at: at + 8)
                try claim(size, at: at + 12)
                at += 12 + size
            case "samf":
                let size = 4 * (try number(4, at: at + 8))
                try claim(4 + size, at: at + 8)
                at += 12 + size
            default: throw Unsound()
            }
        }
    }
}
