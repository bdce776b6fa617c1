import Core

/// `safelight convert`: one photo, through the same worker and the same checks as an upload.
enum Convert {
    static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        let request: PhotoArguments
        let output: String
        do {
            request = try PhotoArguments(arguments, environment: environment, hasOutput: true)
            output = request.output ?? "-"
            try OutputFile.check(output, against: request.input)
        } catch {
            Console.complain(error.sentence)
            return ExitCode.usage
        }
        do {
            let prepared = try OneWorker.run(request) { $0.prepare($1, options: request.options, completion: $2) }
            let place = output == "-" ? "standard output" : output
            try Trouble.telling("cannot write \(place)") { try OutputFile.write(prepared.jpeg, to: output) }
            for warning in prepared.report.warnings {
                Console.complain("\(request.input): warning: \(warning.rawValue)")
            }
            return ExitCode.ok
        } catch {
            return Console.fail(request.input, error)
        }
    }
}
