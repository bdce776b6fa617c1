/// What the front asks of a worker. The input and output descriptors travel beside it.
package struct Job: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The JPEG is written to the output.
        case prepare
        /// It is only told what would be; the output stays empty.
        case inspect
    }

    package var kind: Kind
    package var options: Options
    package var limits: Limits
    /// How many threads it may keep busy.
    package var threads: Int

    package init(_ kind: Kind = .prepare, options: Options, limits: Limits, threads: Int = 1) {
        self.kind = kind
        self.options = options
        self.limits = limits
        self.threads = threads
    }
}

/// What a worker answers: one message for each job.
package enum Reply: Sendable, Equatable {
    case done(Report)
    case failed(Failure)
}

/// The messages' form on the socket. Both ends come from one build; `version` guards against a worker of another.
package enum JobMessage {
    package static let version: UInt8 = 3
    /// The most bytes that a message may have; a reader's buffer.
    package static let bytesMax = 64 * 1024
    /// The most characters of a failure's texts: what a worker says may be what a picture made it say, and it is shown
    /// to clients and written to logs.
    private static let failureTextMax = 500

    /// For a worker: version, kind, options, limits and threads.
    package static func encode(_ job: Job) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        writer.write(job.kind.rawValue)
        write(job.options, to: &writer)
        writer.write(job.limits.bodyBytesMax)
        writer.write(job.limits.pixelsMax)
        writer.write(job.limits.jobDeadlineMs)
        writer.write(job.limits.workerBytesMax)
        writer.write(job.limits.outputBytesMax)
        writer.write(job.threads)
        return writer.bytes
    }

    /// - Throws: where the message is of another version, has a field out of its range, or bytes too few or too many.
    package static func decodeJob(_ bytes: [UInt8]) throws(ByteReader.Malformed) -> Job {
        var reader = ByteReader(bytes)
        guard try reader.readByte() == version else { throw ByteReader.Malformed() }
        let kind: Job.Kind = try reader.readWord()
        let options = try readOptions(from: &reader)
        var limits = Limits()
        limits.bodyBytesMax = try reader.readInt()
        limits.pixelsMax = try reader.readInt()
        limits.jobDeadlineMs = try reader.readInt()
        limits.workerBytesMax = try reader.readInt()
        limits.outputBytesMax = try reader.readInt()
        let threads = try reader.readInt()
        guard threads > 0 else { throw ByteReader.Malformed() }
        try reader.finish()
        return Job(kind, options: options, limits: limits, threads: threads)
    }

    /// For the front: version, and a report or a failure.
    package static func encode(_ reply: Reply) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        switch reply {
        case .done(let report):
            writer.write(UInt8(0))
            report.write(to: &writer)
        case .failed(let failure):
            writer.write(UInt8(1))
            writer.write(failure.code.rawValue)
            writer.write(failure.detail)
            writer.write(UInt8(failure.diagnosis == nil ? 0 : 1))
            if let diagnosis = failure.diagnosis { writer.write(diagnosis) }
        }
        return writer.bytes
    }

    /// Reads what a worker says, which may be in somebody else's hands: nothing of it may be long, or other than its type
    /// says.
    ///
    /// - Throws: as `decodeJob`.
    package static func decodeReply(_ bytes: [UInt8]) throws(ByteReader.Malformed) -> Reply {
        var reader = ByteReader(bytes)
        guard try reader.readByte() == version else { throw ByteReader.Malformed() }
        let reply: Reply
        switch try reader.readByte() {
        case 0: reply = .done(try Report(from: &reader))
        case 1:
            let code: Failure.Code = try reader.readWord()
            let detail = try readText(from: &reader)
            let diagnosis = try reader.readByte() == 0 ? nil : try readText(from: &reader)
            reply = .failed(Failure(code, detail, diagnosis: diagnosis))
        default: throw ByteReader.Malformed()
        }
        try reader.finish()
        return reply
    }

    private static func readText(from reader: inout ByteReader) throws(ByteReader.Malformed) -> String {
        try reader.readString().printable(scalarsMax: failureTextMax)
    }

    /// Options travel as the words that they were given in, and are read as those are.
    private static func write(_ options: Options, to writer: inout ByteWriter) {
        let pairs = options.pairs
        writer.write(pairs.count)
        for pair in pairs {
            writer.write(pair.name)
            writer.write(pair.value)
        }
    }

    private static func readOptions(from reader: inout ByteReader) throws(ByteReader.Malformed) -> Options {
        let count = try reader.readInt()
        guard (0...OptionDescriptor.all.count).contains(count) else { throw ByteReader.Malformed() }
        var pairs: [(name: String, value: String)] = []
        for _ in 0..<count { pairs.append((name: try reader.readString(), value: try reader.readString())) }
        do throws(Failure) { return try Options(parsing: pairs) } catch { throw ByteReader.Malformed() }
    }
}
