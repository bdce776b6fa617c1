/// Walks a command line's words.
struct Flags {
    enum Word: Equatable {
        /// `--name` or `--name=value`.
        case flag(name: String, value: String?)
        /// `-x`: one letter.
        case letter(Character)
        /// Anything else; so is `-` alone, and everything after `--`.
        case operand(String)

        /// As it was written, without a value.
        var name: String {
            switch self {
            case .flag(let name, _): "--" + name
            case .letter(let letter): "-" + String(letter)
            case .operand(let text): text
            }
        }

        /// As it was written.
        var text: String {
            switch self {
            case .flag(_, let value?): name + "=" + value
            case .flag, .letter, .operand: name
            }
        }
    }

    private var rest: ArraySlice<String>
    private var onlyOperands = false

    init(_ arguments: [String]) { rest = arguments[...] }

    mutating func next() -> Word? {
        guard let word = rest.popFirst() else { return nil }
        if onlyOperands { return .operand(word) }
        if word == "--" {
            onlyOperands = true
            return next()
        }
        if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return .flag(name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : nil)
        }
        if word.count == 2, word.hasPrefix("-"), let letter = word.last { return .letter(letter) }
        return .operand(word)
    }

    /// The word after a flag, as its value; nil where there is none or another flag follows.
    mutating func takeValue() -> String? {
        guard let word = rest.first, !word.hasPrefix("--") else { return nil }
        return rest.popFirst()
    }
}
