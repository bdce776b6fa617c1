package import Core

/// What a fuzzer found: a promise that was not kept. Ends the process, which is how libFuzzer learns of it.
package func promise(_ isKept: Bool, _ what: @autoclosure () -> String) {
    // A precondition would not say its words in a release build.
    if !isKept { fatalError("broken promise: \(what())") }
}

extension Failure.Code {
    /// Why a file may be refused. Any other word for a file means that the fault is ours.
    package static let refusals: Set<Failure.Code> = [
        .corrupt, .truncated, .tooManyPixels, .undecodable, .unsupportedMedia,
    ]
}

extension Failure {
    /// Holds a refusal to what a client may be told: a word for its file, printable and short.
    package func promiseRefusal(or others: Set<Failure.Code> = []) {
        promise(Failure.Code.refusals.union(others).contains(code), "\(code.rawValue): \(detail): \(diagnosis ?? "")")
        promise(
            !detail.isEmpty && detail.utf8.count <= 300 && detail.utf8.allSatisfy { (0x20..<0x7F).contains($0) },
            "a detail that is not fit to be shown: \(detail)")
    }
}
