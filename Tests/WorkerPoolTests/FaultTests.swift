import Core
import Glibc
import Posix
import Testing

@testable import WorkerPool

/// Real processes that die, hang and lie: one job is refused, the next one succeeds.
@Suite struct FaultTests {
    @Test func answersAJob() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let output = try faults.begin("echo on").output
        #expect(output.text == "on")
        #expect(output.report.path == .copy)
        #expect(faults.pool.isReady)
    }

    @Test func passesARefusalOn() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        #expect(try faults.failure("refuse") == Failure(.corrupt, "broken"))
        #expect(faults.started.count == 1)
    }

    /// Each costs two workers, and the third one is as good as ever.
    @Test(
        arguments: [
            ("signal 11", "signal 11"), ("signal 6", "signal 6"), ("signal 9", "signal 9"), ("trap", "signal"),
            ("exit 0", "exit code 0"), ("exit 9", "exit code 9"), ("close", "closed its socket"),
            ("orphan", "exit code 5"), ("garbage", "malformed"), ("busy", "malformed"), ("long", "malformed"),
            ("descriptor", "malformed"), ("nothing", "no output"), ("surrender", "gave up: out of luck"),
            ("forbidden", "forbidden system call: 257"), ("signal 31", "forbidden system call"),
            ("huge 4097", "more than 4096 bytes"), ("hold", "could not be sealed"), ("seal", "could not be sealed"),
        ])
    func refusesAtTheSecondLoss(words: String, diagnosis: String) throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let failure = try #require(try faults.failure(words))
        #expect(failure.code == .undecodable)
        #expect(failure.diagnosis?.contains(diagnosis) == true, "\(failure)")
        #expect(try faults.text("echo on") == "on")
        #expect(Set(faults.started).count == 3)
    }

    @Test func acceptsOutputAsLargeAsTheLimit() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let output = try faults.begin("huge 4096", outputBytesMax: 4096).output
        #expect(output.jpeg.count == 4096)
    }

    @Test(arguments: ["signal 11", "exit 1", "garbage", "hold"])
    func succeedsAtTheSecondTry(words: String) throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        #expect(try faults.text("once \(faults.path("mark")) \(words)") == "again")
        #expect(Set(faults.started).count == 2)
    }

    @Test func killedFromOutsideIsTriedAgain() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        try faults.wait { faults.pool.isReady }
        let pid = try #require(faults.started.first)
        let job = try faults.begin("once \(faults.path("mark")) hang")
        try faults.wait { access(faults.path("mark"), F_OK) == 0 }
        kill(pid, SIGKILL)
        #expect(try job.text == "again")
        #expect(faults.events.contains(.crashed(pid: pid, .signal(SIGKILL), duringJob: true)))
    }

    /// A stopped process answers nothing, and dies of SIGKILL all the same.
    @Test(arguments: ["hang", "signal 19"])
    func isKilledAtTheDeadlineAndNotTriedAgain(words: String) throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        try faults.wait { faults.pool.isReady }
        let (failure, tookMs) = try faults.begin(words, deadlineMs: 200).failureAndTime
        #expect(failure?.code == .undecodable)
        #expect(failure?.detail.contains("200 ms") == true)
        #expect(tookMs >= 200)
        let pid = try #require(faults.started.first)
        #expect(faults.events.contains(.killedAtDeadline(pid: pid)))
        #expect(try faults.text("echo on") == "on")
        #expect(faults.started.count == 2)
    }

    /// A crash after 2 s, then a hang: with a deadline of its own the second try would end at 7 s.
    @Test func theSecondTryHasOnlyTheTimeLeft() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        try faults.wait { faults.pool.isReady }
        let pid = try #require(faults.started.first)
        let job = try faults.begin("relapse \(faults.path("mark"))", deadlineMs: 5000)
        let (failure, tookMs) = try job.failureAndTime
        #expect(failure?.code == .undecodable)
        #expect((5000..<7000).contains(tookMs))
        #expect(faults.events.contains(.crashed(pid: pid, .code(1), duringJob: true)))
    }

    /// The log tells it by an event of its own: nothing that honest work does looks so.
    @Test(arguments: [("forbidden", 257 as Int?), ("signal 31", nil)])
    func tellsOfAForbiddenSystemCall(words: String, call: Int?) throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        #expect(try faults.failure(words)?.code == .undecodable)
        let pid = try #require(faults.started.first)
        #expect(faults.events.contains(.trapped(pid: pid, call: call, duringJob: true)))
    }

    @Test func otherJobsNoticeNothing() throws {
        let faults = try FaultPool(workers: 2)
        defer { faults.pool.stop(graceMs: 0) }
        let words = ["signal 11", "echo on", "garbage", "echo on", "echo on", "exit 3", "echo on"]
        let jobs = try words.map { try faults.begin($0) }
        for (words, job) in zip(words, jobs) {
            switch try job.end.outcome {
            case .success(let output): #expect(words == "echo on" && output.text == "on")
            case .failure(let failure): #expect(words != "echo on" && failure.code == .undecodable)
            }
        }
    }

    /// It said its word and left, or said too much afterwards: the job stands, the worker does not.
    @Test(arguments: [("leave", "left"), ("chatter", "chatter"), ("flood", "flood")])
    func aLossAfterTheReplyCostsNothing(words: String, text: String) throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        #expect(try faults.text(words) == text)
        try faults.wait { faults.started.count == 2 }
        #expect(try faults.text("echo on") == "on")
    }

    @Test func anIdleWorkerKilledIsReplaced() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        try faults.wait { faults.pool.isReady }
        let pid = try #require(faults.started.first)
        kill(pid, SIGKILL)
        try faults.wait { faults.started.count == 2 && faults.pool.isReady }
        #expect(faults.events.contains(.crashed(pid: pid, .signal(SIGKILL), duringJob: false)))
        #expect(try faults.text("echo on") == "on")
    }

    /// Still having the file and even a writable descriptor of it, a worker can neither write nor map it.
    @Test func finishedOutputCannotBeAltered() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let output = try faults.begin("keep").output
        #expect(try faults.text("alter") == "errno \(EPERM)")
        #expect(output.text == "kept")
        #expect(faults.started.count == 1)
    }

    @Test func aWorkerHasNothingOfTheFront() throws {
        setenv("SAFELIGHT_TEST_SECRET", "secret", 1)
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        #expect(try faults.text("describe") == #"[0, 1, 2, 3] ["SWIFT_BACKTRACE=enable=no"] own"#)
    }
}
