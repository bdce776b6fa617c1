import Testing

@testable import WorkerPool

/// The pool's decisions, without threads: events in, answers out.
@Suite struct StateMachineTests {
    private var machine = WorkerPool.StateMachine<String>(slots: 2, queueLengthMax: 2, processors: 8)

    /// The work's letter is its name. Unless told, it is a small job.
    private mutating func submit(
        _ work: String, expectedMs: Int = 0, nowMs: Int = 0, untilMs: Int = 100_000
    ) -> WorkerPool.StateMachine<String>.Submission {
        machine.submit(
            work, id: Int(work.utf8.first ?? 0), expectedMs: expectedMs, nowMs: nowMs, untilMs: untilMs)
    }

    /// Both workers warm and without work.
    private mutating func becomeIdle() {
        for slot in [0, 1] {
            machine.warmed(slot)
            #expect(machine.next(slot) == nil)
        }
    }

    @Test mutating func isReadyWithOneWarmWorker() {
        #expect(!machine.isReady)
        machine.warmed(1)
        #expect(machine.isReady)
        #expect(machine.lost(1) == nil)
        #expect(!machine.isReady)
    }

    @Test mutating func queuesUntilAWorkerIsWarmThenFirstInFirstOut() {
        #expect(submit("a", untilMs: 100) == .queued)
        #expect(submit("b", untilMs: 100) == .queued)
        #expect(submit("c", untilMs: 100) == .queueFull)
        machine.warmed(0)
        #expect(machine.next(0)?.work == "a")
        machine.finished(0, tookUs: 1000)
        #expect(machine.next(0)?.work == "b")
        machine.finished(0, tookUs: 1000)
        #expect(machine.next(0) == nil)
    }

    @Test mutating func handsToTheSlotUsedLast() {
        becomeIdle()
        #expect(submit("a", untilMs: 100) == .handed(slot: 1))
        #expect(submit("b", untilMs: 100) == .handed(slot: 0))
        #expect(submit("c", untilMs: 100) == .queued)
        #expect(machine.next(1)?.work == "a")
        #expect(machine.next(0)?.work == "b")
        machine.finished(0, tookUs: 1000)
        #expect(machine.next(0)?.work == "c")
    }

    @Test mutating func anIdleSlotAskedTwiceGetsOneJob() {
        machine.warmed(0)
        #expect(machine.next(0) == nil)
        #expect(machine.next(0) == nil)
        #expect(submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(submit("b", untilMs: 100) == .queued)
    }

    @Test mutating func workHandedToALostWorkerGoesToAnother() {
        becomeIdle()
        #expect(submit("a", untilMs: 100) == .handed(slot: 1))
        #expect(machine.lost(1) == 0)
        #expect(machine.next(0)?.work == "a")
    }

    @Test mutating func workHandedToTheOnlyWorkerWaitsInFront() {
        machine.warmed(0)
        #expect(machine.next(0) == nil)
        #expect(submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(submit("b", untilMs: 100) == .queued)
        #expect(machine.lost(0) == nil)
        machine.warmed(1)
        #expect(machine.next(1)?.work == "a")
    }

    @Test mutating func aLostIdleSlotIsHandedNothing() {
        machine.warmed(0)
        #expect(machine.next(0) == nil)
        #expect(machine.lost(0) == nil)
        #expect(submit("a", untilMs: 100) == .queued)
    }

    @Test mutating func expiresWhatWaitedInVain() {
        #expect(submit("a", untilMs: 100) == .queued)
        #expect(submit("b", untilMs: 200) == .queued)
        #expect(machine.expire(nowMs: 99) == [])
        #expect(machine.expire(nowMs: 100) == ["a"])
        machine.warmed(0)
        #expect(machine.next(0)?.work == "b")
    }

    @Test mutating func stopsWithRunningWork() {
        machine.warmed(0)
        #expect(machine.next(0) == nil)
        #expect(submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(submit("b", untilMs: 100) == .queued)
        #expect(machine.stop(cutoffMs: 50) == ["b"])
        #expect(machine.stop(cutoffMs: 60) == [])
        #expect(machine.cutoffMs == 50)
        #expect(submit("c", untilMs: 100) == .stopping)
        #expect(!machine.isReady)
        #expect(!machine.isOver(0) && machine.isOver(1))
        #expect(machine.next(0)?.work == "a")
        #expect(!machine.isOver(0))
        machine.finished(0, tookUs: 1000)
        #expect(machine.isOver(0))
        #expect(machine.next(0) == nil)
    }

    @Test mutating func workBereavedWhileStoppingIsDoneOrCutOff() {
        machine.warmed(0)
        #expect(machine.next(0) == nil)
        #expect(submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(machine.stop(cutoffMs: 50) == [])
        #expect(machine.lost(0) == nil)
        #expect(!machine.isOver(0))
        #expect(machine.expire(nowMs: 49) == [])
        #expect(machine.expire(nowMs: 50) == ["a"])
        #expect(machine.isOver(0))
    }

    /// Eight processors: all for a lone job, a share of them for each of those that run or wait.
    @Test mutating func sharesTheProcessors() {
        becomeIdle()
        #expect(submit("a", untilMs: 100) == .handed(slot: 1))
        #expect(machine.next(1)?.threads == 8)
        #expect(submit("b", untilMs: 100) == .handed(slot: 0))
        #expect(submit("c", untilMs: 100) == .queued)
        #expect(machine.next(0)?.threads == 2)
        machine.finished(1, tookUs: 1000)
        #expect(machine.next(1)?.threads == 4)
        machine = WorkerPool.StateMachine<String>(slots: 1, queueLengthMax: 9, processors: 2)
        for work in ["a", "b", "c"] { #expect(submit(work) == .queued) }
        machine.warmed(0)
        #expect(machine.next(0)?.threads == 1)
    }

    @Test mutating func smallJobsOvertakeBigOnesThatHaveNotWaitedAsLong() {
        machine = WorkerPool.StateMachine<String>(slots: 1, queueLengthMax: 9, processors: 1)
        #expect(submit("b", expectedMs: 3000, nowMs: 0) == .queued)
        #expect(submit("m", expectedMs: 500, nowMs: 100) == .queued)
        #expect(submit("s", expectedMs: 20, nowMs: 200) == .queued)
        #expect(submit("t", expectedMs: 20, nowMs: 2970) == .queued)
        #expect(submit("u", expectedMs: 20, nowMs: 2990) == .queued)
        machine.warmed(0)
        var order = ""
        while let next = machine.next(0) {
            order += next.work
            machine.finished(0, tookUs: 1)
        }
        #expect(order == "smtbu")
    }

    /// Whatever small jobs keep coming, a big one is next at the latest when it has waited as long as it takes.
    @Test mutating func aBigJobIsNotStarved() {
        machine = WorkerPool.StateMachine<String>(slots: 1, queueLengthMax: 9, processors: 1)
        machine.warmed(0)
        #expect(submit("b", expectedMs: 2000, nowMs: 0) == .queued)
        var nowMs = 0
        while nowMs < 10_000 {
            #expect(submit("s", expectedMs: 100, nowMs: nowMs) == .queued)
            let next = machine.next(0)
            machine.finished(0, tookUs: 100_000)
            if next?.work == "b" { break }
            nowMs += 100
        }
        #expect((1900...2000).contains(nowMs))
    }

    @Test mutating func cancelsWhatWaitsAndKillsOnlyLongWork() {
        becomeIdle()
        func isDropped(_ cancellation: WorkerPool.StateMachine<String>.Cancellation, _ work: String) -> Bool {
            if case .dropped(work) = cancellation { true } else { false }
        }
        func isLeft(_ cancellation: WorkerPool.StateMachine<String>.Cancellation) -> Bool {
            if case .leave = cancellation { true } else { false }
        }
        #expect(submit("a", expectedMs: 999) == .handed(slot: 1))
        #expect(isDropped(machine.cancel(id: 97), "a"), "handed, not taken")
        #expect(machine.next(1) == nil)
        #expect(submit("b", expectedMs: 999) == .handed(slot: 1))
        #expect(machine.next(1)?.work == "b")
        #expect(isLeft(machine.cancel(id: 98)))
        #expect(!machine.isCancelled(1))
        #expect(submit("c", expectedMs: 1000) == .handed(slot: 0))
        #expect(machine.next(0)?.work == "c")
        #expect(submit("d") == .queued)
        #expect(isDropped(machine.cancel(id: 100), "d"))
        if case .kill(slot: 0) = machine.cancel(id: 99) {} else { Issue.record("a long job's worker is killed") }
        #expect(machine.isCancelled(0))
        machine.finished(0, tookUs: 1)
        #expect(!machine.isCancelled(0))
        #expect(isLeft(machine.cancel(id: 99)))
        #expect(machine.load.waiting == 0)
    }

    @Test mutating func tellsHowBusyItIs() {
        becomeIdle()
        #expect(machine.load == WorkerPool.Load(workers: 2, running: 0, waiting: 0, jobUs: 200_000))
        for work in ["a", "b", "c"] { _ = submit(work) }
        #expect(machine.next(0)?.work == "b")
        #expect(machine.load == WorkerPool.Load(workers: 2, running: 2, waiting: 1, jobUs: 200_000))
        machine.finished(0, tookUs: 1_000_000)
        #expect(machine.load.jobUs == 300_000)
    }
}
