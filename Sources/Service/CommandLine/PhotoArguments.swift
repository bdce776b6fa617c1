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
    var worker: String?
    /// Where the kernel has no seccomp.
    var allowsUnsandboxed: Bool

    /// - Parameter hasOutput: whether the command takes `-o`, and then needs it.
    init(_ arguments: [String], environment: [String: String], hasOutput: Bool) throws(Misuse) {
        var inputs: [String] = []
        var worker = environment["SAFELIGHT_WORKER"] ?? ""
        allowsUnsandboxed = environment["SAFELIGHT_ALLOW_UNSANDBOXED"] == "true"
        var pairs: [(name: String, value: String)] = []
        var words = Flags(arguments)
        while let word = words.next() {
            switch word {
            case .operand(let text): inputs.append(text)
            case .letter("o") where hasOutput, .flag("output", _) where hasOutput:
                guard output == nil else { throw Misuse(sentence: "-o is given more than once") }
                output = try PhotoArguments.value(of: word, &words)
            case .flag("allow-unsandboxed", nil): allowsUnsandboxed = true
            case .flag("worker", _): worker = try PhotoArguments.value(of: word, &words)
            case .flag(let name, _):
                guard let option = OptionDescriptor.all.first(where: { $0.flag == name }) else { fallthrough }
                pairs.append((option.name, try PhotoArguments.value(of: word, &words, option.allowed)))
            case .letter:
                let own = (hasOutput ? ["output"] : []) + ["worker", "allow-unsandboxed"]
                let flags = own + OptionDescriptor.all.map(\.flag)
                let known = (hasOutput ? ["-o"] : []) + flags.map { "--" + $0 }
                throw Misuse(
                    sentence: "unknown flag '\(word.text.clipped)'; known are: \(known.joined(separator: ", "))")
            }
        }
        guard inputs.count == 1, hasOutput == (output != nil) else {
            throw Misuse(
                sentence: hasOutput
                    ? "give one input and one output: safelight convert FILE|- -o FILE|-"
                    : "give one input: safelight inspect FILE|-")
        }
        input = inputs[0]
        do { options = try Options(parsing: pairs) } catch { throw Misuse(sentence: error.detail) }
        self.worker = ["", "auto"].contains(worker) ? nil : worker
    }

    private static func value(
        of word: Flags.Word, _ words: inout Flags, _ allowed: String = "allowed is a path"
    ) throws(Misuse) -> String {
        if case .flag(_, let value?) = word { return value }
        guard let value = words.takeValue() else { throw Misuse(sentence: "\(word.text) needs a value; \(allowed)") }
        return value
    }
}
