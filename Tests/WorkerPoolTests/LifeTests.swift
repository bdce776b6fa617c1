import Core
import Foundation
import Glibc
import Posix
import Support
import Testing

@testable import WorkerPool

/// How the pool comes up, holds itself and goes down.
@Suite struct LifeTests {
    @Test func refusesAWorkerThatIsNotThere() {
        #expect(throws: PosixError(call: "access /nowhere/worker", errno: ENOENT)) {
            try WorkerPool.start(WorkerPool.Configuration(workerPath: "/nowhere/worker", workers: 1))
        }
    }

    /// No worker comes to its hello: the pool is not ready, tries again with pauses, and fails the job at its deadline.
    @Test(arguments: [
        ("DieAtStart", "exit code 7"), ("Mute", "no hello in time"), ("Stranger", "spoke"),
        ("Unfiltered", "not sandboxed"),
    ])
    func failsJobsWhileNoWorkerStarts(name: String, reason: String) throws {
        let faults = try FaultPool(name) {
            $0.helloDeadlineMs = name == "Mute" ? 50 : 20_000
            $0.waitMs = 300
        }
        defer { faults.pool.stop(graceMs: 0) }
        let (failure, tookMs) = try faults.begin("echo on").failureAndTime
        #expect(failure?.code == .busy)
        #expect(tookMs >= 300)
        #expect(!faults.pool.isReady)
        #expect(faults.started.isEmpty)
        let pauses = faults.events.map { event in
            if case .startFailed(let text, let retryInMs) = event, text.contains(reason) { retryInMs } else { -1 }
        }
        #expect(pauses.starts(with: [10, 20, 40]), "\(faults.events)")
    }

    /// The only worker is still coming, and not late yet: who waits for it hears in time all the same.
    @Test func failsJobsWhileAWorkerIsStarting() throws {
        let faults = try FaultPool("Mute") {
            $0.waitMs = 300
            $0.helloDeadlineMs = 60_000
        }
        defer { faults.pool.stop(graceMs: 0) }
        #expect(try faults.failure("echo on")?.code == .busy)
        #expect(faults.events.isEmpty)
    }

    @Test func takesAnUnsandboxedWorkerWhereThatIsAllowed() throws {
        let faults = try FaultPool("Unfiltered") { $0.allowsUnsandboxed = true }
        defer { faults.pool.stop(graceMs: 0) }
        #expect(try faults.text("echo on") == "on")
    }

    /// Workers that die idle, or talk out of turn, come back with pauses too; a job finds none to take it.
    @Test(arguments: ["DieAfterHello", "Early"]) func pausesForWorkersThatDoNothing(name: String) throws {
        let faults = try FaultPool(name) { $0.waitMs = 100 }
        defer { faults.pool.stop(graceMs: 0) }
        let startMs = Clock.monotonicMs()
        try faults.wait { faults.started.count >= 5 }
        #expect(Clock.monotonicMs() - startMs >= 10 + 20 + 40)
        let failure = try faults.failure("echo on")
        #expect(failure == nil || failure?.code == .busy || failure?.code == .undecodable)
    }

    /// All workers are busy for long; those that wait hear of it in time all the same.
    @Test func aJobWaitsNoLongerThanItsClient() throws {
        let faults = try FaultPool { $0.waitMs = 300 }
        defer { faults.pool.stop(graceMs: 0) }
        let held = try faults.beginHeld()
        let (failure, tookMs) = try faults.begin("echo on").failureAndTime
        #expect(failure?.code == .busy)
        #expect(tookMs >= 300)
        try faults.release()
        let output = try held.output
        #expect(output.text == "released")
        #expect(output.workUs >= 300_000)
    }

    @Test func dropsAJobThatNobodyWaitsFor() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let held = try faults.beginHeld()
        let waiting = try faults.begin("echo on")
        try faults.cancel(waiting)
        try faults.cancel(held)
        #expect(try waiting.failure?.code == .busy)
        // This one runs and is no long job: it comes to its end.
        try faults.release()
        #expect(try held.text == "released")
        #expect(faults.started.count == 1)
    }

    @Test func killsTheWorkerOfALongJobThatNobodyWaitsFor() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let held = try faults.beginHeld(expectedMs: 5000)
        try faults.cancel(held)
        #expect(try held.failure?.code == .busy)
        #expect(faults.events.contains(.killedAsAbandoned(pid: try #require(faults.started.first))))
        #expect(try faults.text("echo on") == "on")
    }

    @Test func refusesWhenTheQueueIsFull() throws {
        let faults = try FaultPool { $0.queueLengthMax = 1 }
        defer { faults.pool.stop(graceMs: 0) }
        let first = try faults.beginHeld()
        let second = try faults.begin("echo second")
        let failure = #expect(throws: Failure.self) { try faults.begin("echo on") }
        #expect(failure?.code == .busy)
        try faults.release()
        #expect(try first.text == "released")
        #expect(try second.text == "second")
    }

    @Test func recyclesAfterEnoughJobs() throws {
        let faults = try FaultPool { $0.jobsPerWorkerMax = 2 }
        defer { faults.pool.stop(graceMs: 0) }
        var pids: [String] = []
        for _ in 0..<5 { pids.append(try faults.text("pid")) }
        #expect(pids[0] == pids[1] && pids[2] == pids[3])
        #expect(Set(pids).count == 3)
        #expect(faults.events.allSatisfy { if case .crashed = $0 { false } else { true } })
    }

    @Test func recyclesWhatHoldsMuchMemory() throws {
        let faults = try FaultPool { $0.residentBytesMax = 48 << 20 }
        defer { faults.pool.stop(graceMs: 0) }
        let first = try faults.text("pid")
        #expect(try faults.text("pid") == first)
        #expect(try faults.text("grow") == "grown")
        #expect(try faults.text("pid") != first)
    }

    @Test func stopLetsRunningJobsFinish() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let running = try faults.beginHeld()
        let waiting = try faults.begin("echo on")
        try faults.stop(graceMs: 20_000) {
            #expect(try waiting.failure?.code == .stopping)
            try faults.release()
            #expect(try running.text == "released")
        }
        let failure = #expect(throws: Failure.self) { try faults.begin("echo on") }
        #expect(failure?.code == .stopping)
        #expect(!faults.pool.isReady)
    }

    @Test func stopCutsShortWhatDoesNotFinish() throws {
        let faults = try FaultPool()
        defer { faults.pool.stop(graceMs: 0) }
        let running = try faults.beginHeld()
        let startMs = Clock.monotonicMs()
        faults.pool.stop(graceMs: 100)
        #expect(Clock.monotonicMs() - startMs >= 100)
        #expect(try running.failure?.code == .stopping)
        #expect(faults.events.contains(.killedAtStop(pid: try #require(faults.started.first))))
    }

    /// The front ends in the middle of a job, without a word to anybody.
    @Test func workersDieWithTheFront() async throws {
        let folder = try ScratchFolder()
        let note = folder.url.appendingPathComponent("pid").path
        await #expect(processExitsWith: .exitCode(42)) { [note = note as String] in
            let faults = try FaultPool(workers: 2)
            try faults.wait { faults.started.count == 2 }
            _ = try faults.beginHeld()
            try Data("\(faults.started)".utf8).write(to: URL(fileURLWithPath: note))
            _exit(42)
        }
        let pids = String(decoding: try folder.read("pid"), as: UTF8.self).matches(of: /[0-9]+/).map(\.output)
        #expect(pids.count == 2)
        let untilMs = Clock.monotonicMs() + 5000
        while pids.contains(where: isRunning), Clock.monotonicMs() < untilMs {
            usleep(5000)
        }
        #expect(!pids.contains(where: isRunning))
    }

    /// In a process of its own, where no other test has children or descriptors.
    @Test func leavesNoZombieAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let warmUp = try FaultPool()
            _ = try warmUp.text("echo on")
            warmUp.pool.stop(graceMs: 1000)
            let before = openDescriptors()

            do {
                let faults = try FaultPool(workers: 2) { $0.jobsPerWorkerMax = 20 }
                for index in 0..<200 {
                    switch index % 10 {
                    case 3: #expect(try faults.failure("signal 11")?.code == .undecodable)
                    case 5: #expect(try faults.failure("hold")?.code == .undecodable)
                    case 7: #expect(try faults.failure("descriptor")?.code == .undecodable)
                    default: #expect(try faults.text("echo on") == "on")
                    }
                }
                faults.pool.stop(graceMs: 1000)
                #expect(faults.started.count > 120)
            }

            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
            #expect(openDescriptors() == before)
        }
    }
}

private func openDescriptors() -> [Int32] { (0..<1024).filter { fcntl($0, F_GETFD) != -1 } }

/// Whether the process exists and is no zombie that its new parent has yet to take.
private func isRunning(_ pid: Substring) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return false }
    return !status.contains("State:\tZ")
}
