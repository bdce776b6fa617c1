/// What a `Range` header asks of an object (RFC 9110, section 14).
enum ByteRange: Equatable {
    /// All of it: no header, or one that may be ignored (another unit, bad syntax, several ranges).
    case whole
    /// These bytes, at least one, all of which exist.
    case part(Range<Int>)
    case notSatisfiable

    init(_ header: String?, count: Int) {
        guard let header, let spec = ByteRange.spec(header) else {
            self = .whole
            return
        }
        switch spec {
        case .from(let first, let last):
            if first >= count {
                self = .notSatisfiable
            } else {
                self = .part(first..<(min(last, count - 1) + 1))
            }
        case .suffix(let length):
            self = length == 0 || count == 0 ? .notSatisfiable : .part(max(0, count - length)..<count)
        }
    }

    private enum Spec {
        case from(Int, through: Int)
        case suffix(Int)
    }

    private static func spec(_ header: String) -> Spec? {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(position)
        guard ends.count == 2 else { return nil }
        switch (ends[0], ends[1]) {
        case (.absent, .at(let length)): return .suffix(length)
        case (.at(let first), .absent): return .from(first, through: .max - 1)
        case (.at(let first), .at(let last)): return first <= last ? .from(first, through: last) : nil
        default: return nil
        }
    }

    private enum Position {
        case absent, invalid
        case at(Int)
    }

    private static func position(_ text: Substring) -> Position {
        let text = String(text).trimmingBlanks
        if text.isEmpty { return .absent }
        guard text.allSatisfy({ ("0"..."9").contains($0) }) else { return .invalid }
        // A number beyond every file's size is as good as the largest.
        return .at(Int(text) ?? .max - 1)
    }
}
