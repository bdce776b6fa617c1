import Core
import HTTP
import WorkerPool

extension Log {
    /// The one line of a request.
    func request(_ record: AccessRecord) {
        let note = record.note as? RequestNote
        var fields: [String: Value] = [
            "request.id": .text(record.id), "bytes.in": .number(record.bytesIn), "bytes.out": .number(record.bytesOut),
            "time.total_ms": .milliseconds(us: record.durationUs),
        ]
        if let head = record.head {
            fields["http.method"] = .text(head.method.description.clipped)
            fields["http.route"] = .text(Place(head.path)?.pattern ?? "none")
        }
        if let status = record.status { fields["http.status"] = .number(status) }
        if !record.isComplete { fields["http.cut_short"] = .flag(true) }
        fields["time.upload_ms"] = record.uploadUs.map { .milliseconds(us: $0) }
        fields["time.queue_ms"] = note?.queueUs.map { .milliseconds(us: $0) }
        fields["time.worker_ms"] = note?.workerUs.map { .milliseconds(us: $0) }
        fields["time.store_ms"] = note?.storeUs.map { .milliseconds(us: $0) }
        if let report = note?.report {
            fields["image.kind"] = .text(report.source.format.rawValue)
            fields["image.path"] = .text(report.path.rawValue)
            fields["image.pixels"] = report.source.size.pixels.map { .number($0) }
        }
        if let failure = note?.failure {
            fields["error.code"] = .text(failure.code.rawValue)
            fields["error.diagnosis"] = failure.diagnosis.map { .text($0) }
        }
        self(note?.failure?.code.level ?? .info, "request", fields)
    }

    /// What happens to the workers.
    func worker(_ event: Event) {
        switch event {
        case .started(let pid): self(.info, "worker started", ["worker.pid": .number(Int(pid))])
        case .startFailed(let reason, let retryInMs):
            self(
                .error, "worker does not start",
                ["worker.reason": .text(reason), "worker.retry_ms": .number(retryInMs)])
        case .crashed(let pid, let exit, let duringJob):
            self(
                .warning, "worker ended",
                [
                    "worker.pid": .number(Int(pid)),
                    "worker.exit": .text(exit.map { "\($0)" } ?? "closed its socket"),
                    "worker.during_job": .flag(duringJob),
                ])
        case .killedAtDeadline(let pid):
            self(.warning, "worker killed at the deadline", ["worker.pid": .number(Int(pid))])
        case .killedAtStop(let pid):
            self(.warning, "worker killed at the stop", ["worker.pid": .number(Int(pid))])
        case .killedAsAbandoned(let pid):
            self(.info, "worker killed since the client has gone", ["worker.pid": .number(Int(pid))])
        case .misbehaved(let pid, let how):
            self(.error, "worker misbehaved", ["worker.pid": .number(Int(pid)), "worker.reason": .text(how)])
        case .recycled(let pid, let jobs, let residentBytes):
            var fields: [String: Value] = ["worker.pid": .number(Int(pid)), "worker.jobs": .number(jobs)]
            fields["worker.resident_bytes"] = residentBytes.map { .number($0) }
            self(.info, "worker recycled", fields)
        }
    }
}
