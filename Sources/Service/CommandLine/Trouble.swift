/// Something on the machine that failed, with what was tried and at what before it: a bare "open: No such file or
/// directory" helps nobody.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    /// Does `body`; what it throws is told as the reason why `attempt` did not succeed.
    static func telling<Value>(_ attempt: String, _ body: () throws -> Value) throws(Trouble) -> Value {
        do { return try body() } catch { throw Trouble(description: "\(attempt): \(error)") }
    }
}
