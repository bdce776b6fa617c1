import Core
import Glibc
import Posix

/// The program's whole life: reads the command line, does what it says, and returns the exit code.
package func run(_ arguments: [String]) -> Int32 {
    StandardStreams.prepare()
    let environment = Environment.variables
    let rest = Array(arguments.dropFirst(2))
    switch arguments.dropFirst().first {
    case "version", "--version":
        Console.print("safelight \(Version.text)\n")
        return ExitCode.ok
    case "help", "--help", "-h":
        return help(with: rest.first)
    case .some(let word):
        guard let command = Command(rawValue: word) else {
            Console.complain("unknown command '\(word.clipped)'; known are: \(Command.known), version, help")
            return ExitCode.usage
        }
        return command.run(rest, environment: environment)
    case nil:
        Console.complain("no command is given; known are: \(Command.known), version, help")
        return ExitCode.usage
    }
}

private func help(with topic: String?) -> Int32 {
    guard let topic else {
        Console.print(Help.overview)
        return ExitCode.ok
    }
    guard let command = Command(rawValue: topic) else {
        Console.complain("no help with '\(topic.clipped)'; known are: \(Command.known)")
        return ExitCode.usage
    }
    Console.print(Help.text(for: command))
    return ExitCode.ok
}

/// What the program does at length.
enum Command: String, CaseIterable {
    case serve, convert, inspect

    static var known: String { allCases.map(\.rawValue).joined(separator: ", ") }

    func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            Console.print(Help.text(for: self))
            return ExitCode.ok
        }
        return switch self {
        case .serve: Serve.run(arguments, environment: environment)
        case .convert: Convert.run(arguments, environment: environment)
        case .inspect: Inspect.run(arguments, environment: environment)
        }
    }
}

/// What the program ends with.
enum ExitCode {
    static let ok: Int32 = 0
    /// The picture was refused, or something on the machine failed.
    static let failed: Int32 = 1
    /// The command line makes no sense.
    static let usage: Int32 = 2
}

/// What the program says to people, as opposed to the log.
enum Console {
    static func print(_ text: String) { write(text, to: STDOUT_FILENO) }

    static func complain(_ sentence: String) { write("safelight: \(sentence)\n", to: STDERR_FILENO) }

    /// Why a photo was refused or a command failed; the exit code.
    static func fail(_ input: String, _ error: any Error) -> Int32 {
        if let failure = error as? Failure {
            complain("\(input): \(failure.code.rawValue): \(failure.detail)")
        } else {
            complain("\(input): \(error)")
        }
        return ExitCode.failed
    }

    private static func write(_ text: String, to descriptor: Int32) {
        // A reader that left (`safelight help | head`) is no fault.
        _ = Glibc.write(descriptor, text, text.utf8.count)
    }
}

enum Environment {
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let sides = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if sides.count == 2 { variables[String(sides[0])] = String(sides[1]) }
            entry += 1
        }
        return variables
    }
}
