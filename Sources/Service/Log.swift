import Core
import Glibc
import Posix
import Synchronization

/// Lines of JSON for machines to collect, one write(2) each, so that lines of several threads never mix.
///
/// The message is constant, everything that varies is a field with a dotted name. What a picture tells of its owner,
/// file names, and the random part of keys never come here: whoever reads the log may not read the pictures.
package struct Log: Sendable {
    /// How much a line matters to whoever runs the service.
    package enum Level: String, Sendable {
        case info, warning, error
    }

    /// What a field may hold.
    package enum Value: Sendable, Equatable {
        case text(String)
        case number(Int)
        /// Told in milliseconds, to a tenth.
        case milliseconds(us: Int)
        case flag(Bool)
    }

    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: takes a whole line with its line feed.
    package init(write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

    /// The log of the program.
    package static let standardError = Log(to: STDERR_FILENO)

    /// Lines come from threads that may not block. So one that finds no room, since the descriptor's reader stands
    /// still, is lost, and the next one that finds some tells how many were.
    init(to descriptor: Int32) {
        let lostCount = Mutex(0)
        write = { line in
            lostCount.withLock { lostCount in
                guard canWriteAtOnce(descriptor) else {
                    lostCount += 1
                    return
                }
                var bytes = line
                if lostCount > 0 {
                    bytes = Log.line(.warning, "log lines lost", ["log.lost": .number(lostCount)]) + line
                    lostCount = 0
                }
                // A log that cannot be written must not stop the service; there is nowhere to tell it either.
                _ = Glibc.write(descriptor, bytes, bytes.count)
            }
        }
    }

    /// Writes a line.
    package func callAsFunction(_ level: Level, _ message: String, _ fields: [String: Value] = [:]) {
        write(Log.line(level, message, fields))
    }

    private static func line(_ level: Level, _ message: String, _ fields: [String: Value]) -> [UInt8] {
        var line = fields
        line["time"] = .text(UTCTime(milliseconds: Clock.unixMs()).rfc3339)
        line["level"] = .text(level.rawValue)
        line["message"] = .text(message)
        return JSON.encode(line) + [UInt8(ascii: "\n")]
    }
}

extension Log.Value: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .milliseconds(let us): try container.encode(Double((us + 50) / 100) / 10)
        case .flag(let flag): try container.encode(flag)
        }
    }
}
