import Core
import Glibc
import Posix

/// `safelight inspect`: what a photo is, what it tells, and what would become of it.
enum Inspect {
    static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        let request: PhotoArguments
        do { request = try PhotoArguments(arguments, environment: environment, hasOutput: false) } catch {
            Console.complain(error.sentence)
            return ExitCode.usage
        }
        do {
            let inspected = try OneWorker.run(request) { $0.inspect($1, options: request.options, completion: $2) }
            let text =
                isatty(STDOUT_FILENO) == 1
                ? Array(InspectionText(inspected).text.utf8)
                : JSON.encode(InspectionRecord(inspected)) + [UInt8(ascii: "\n")]
            try StandardStreams.duplicate(STDOUT_FILENO).writeAll(text)
            return ExitCode.ok
        } catch {
            return Console.fail(request.input, error)
        }
    }
}
