import Core

/// Why a command line makes no sense.
struct Misuse: Error, Equatable {
    let sentence: String
}

/// The command line of a command that works on one photo: `FILE [-o FILE] [--option VALUE …] [--worker FILE]
/// [--allow-unsandboxed]`.
struct PhotoArguments: Equatable {
    /// A path, or `-` for standard input.
    var input: String
    /// Where the command writes a picture: a path, or `-` for standard output.
    var output: String?
    var options: Options
    /// What the command shares with `serve`.
    var settings = Settings()

    /// The settings that it shares, by flag and by variable.
    private static let shared = SettingDescriptor.all.filter { ["worker", "allow-unsandboxed"].contains($0.flag) }

    /// - Parameter hasOutput: whether the command takes `-o`, and then needs it.
    init(_ arguments: [String], environment: [String: String], hasOutput: Bool) throws(Misuse) {
        if let complaint = settings.apply(environment: environment, Self.shared).first {
            throw Misuse(sentence: complaint)
        }
        var inputs: [String] = []
        var pairs: [(name: String, value: String)] = []
        var seen: Set<String> = []
        var words = Flags(arguments)
        while let word = words.next() {
            switch word {
            case .operand(let text): inputs.append(text)
            case .letter("o") where hasOutput, .flag("output", _) where hasOutput:
                guard output == nil else { throw Misuse(sentence: "-o is given more than once") }
                output = try Self.value(of: word, &words, "allowed is a path")
            case .flag(let name, _):
                if let option = OptionDescriptor.all.first(where: { $0.flag == name }) {
                    pairs.append((option.name, try Self.value(of: word, &words, option.allowed)))
                } else if let setting = Self.shared.first(where: { $0.flag == name }) {
                    guard seen.insert(name).inserted else {
                        throw Misuse(sentence: "--\(name) is given more than once")
                    }
                    let value = try Self.value(of: word, &words, setting.allowed, isSwitch: setting.isSwitch)
                    if let complaint = settings.apply(setting, value, from: word.name) {
                        throw Misuse(sentence: complaint)
                    }
                } else {
                    throw Self.unknown(word, hasOutput: hasOutput)
                }
            case .letter: throw Self.unknown(word, hasOutput: hasOutput)
            }
        }
        guard inputs.count == 1, inputs[0] != "", hasOutput == (output != nil), output != "" else {
            throw Misuse(
                sentence: hasOutput
                    ? "give one input and one output: safelight convert FILE|- -o FILE|-"
                    : "give one input: safelight inspect FILE|-")
        }
        input = inputs[0]
        do { options = try Options(parsing: pairs) } catch { throw Misuse(sentence: error.detail) }
    }

    private static func value(
        of word: Flags.Word, _ words: inout Flags, _ allowed: String, isSwitch: Bool = false
    ) throws(Misuse) -> String {
        if case .flag(_, let value?) = word { return value }
        if isSwitch { return "true" }
        guard let value = words.takeValue() else { throw Misuse(sentence: "\(word.text) needs a value; \(allowed)") }
        return value
    }

    private static func unknown(_ word: Flags.Word, hasOutput: Bool) -> Misuse {
        let flags = (hasOutput ? ["output"] : []) + shared.map(\.flag) + OptionDescriptor.all.map(\.flag)
        let known = (hasOutput ? ["-o"] : []) + flags.map { "--" + $0 }
        return Misuse(sentence: "unknown flag '\(word.text.clipped)'; known are: \(known.joined(separator: ", "))")
    }
}
