import Testing

@testable import WorkerPool

/// The pool's decisions, without threads: events in, answers out.
@Suite struct StateMachineTests {
    private var machine = WorkerPool.StateMachine<String>(slots: 2, queueLengthMax: 2, processors: 8)

    @Test mutating func isReadyWithOneWarmWorker() {
        #expect(!machine.isReady)
        machine.warmed(1)
        #expect(machine.isReady)
        #expect(machine.lost(1) == nil)
        #expect(!machine.isReady)
    }

    @Test mutating func queuesUntilAWorkerIsWarmThenFirstInFirstOut() {
        #expect(machine.submit("a", untilMs: 100) == .queued)
        #expect(machine.submit("b", untilMs: 100) == .queued)
        #expect(machine.submit("c", untilMs: 100) == .queueFull)
        machine.warmed(0)
        #expect(machine.next(0)?.work == "a")
        machine.finished(0)
        #expect(machine.next(0)?.work == "b")
        machine.finished(0)
        #expect(machine.next(0)?.work == nil)
    }

    @Test mutating func handsToTheSlotUsedLast() {
        for slot in [0, 1] {
            machine.warmed(slot)
            #expect(machine.next(slot)?.work == nil)
        }
        #expect(machine.submit("a", untilMs: 100) == .handed(slot: 1))
        #expect(machine.submit("b", untilMs: 100) == .handed(slot: 0))
        #expect(machine.submit("c", untilMs: 100) == .queued)
        #expect(machine.next(1)?.work == "a")
        #expect(machine.next(0)?.work == "b")
        machine.finished(0)
        #expect(machine.next(0)?.work == "c")
    }

    @Test mutating func anIdleSlotAskedTwiceGetsOneJob() {
        machine.warmed(0)
        #expect(machine.next(0)?.work == nil)
        #expect(machine.next(0)?.work == nil)
        #expect(machine.submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(machine.submit("b", untilMs: 100) == .queued)
    }

    @Test mutating func workHandedToALostWorkerGoesToAnother() {
        for slot in [0, 1] {
            machine.warmed(slot)
            #expect(machine.next(slot)?.work == nil)
        }
        #expect(machine.submit("a", untilMs: 100) == .handed(slot: 1))
        #expect(machine.lost(1) == 0)
        #expect(machine.next(0)?.work == "a")
    }

    @Test mutating func workHandedToTheOnlyWorkerWaitsInFront() {
        machine.warmed(0)
        #expect(machine.next(0)?.work == nil)
        #expect(machine.submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(machine.submit("b", untilMs: 100) == .queued)
        #expect(machine.lost(0) == nil)
        machine.warmed(1)
        #expect(machine.next(1)?.work == "a")
    }

    @Test mutating func aLostIdleSlotIsHandedNothing() {
        machine.warmed(0)
        #expect(machine.next(0)?.work == nil)
        #expect(machine.lost(0) == nil)
        #expect(machine.submit("a", untilMs: 100) == .queued)
    }

    @Test mutating func expiresWhatWaitedInVain() {
        #expect(machine.submit("a", untilMs: 100) == .queued)
        #expect(machine.submit("b", untilMs: 200) == .queued)
        #expect(machine.expire(nowMs: 99) == [])
        #expect(machine.expire(nowMs: 100) == ["a"])
        machine.warmed(0)
        #expect(machine.next(0)?.work == "b")
    }

    @Test mutating func stopsWithRunningWork() {
        machine.warmed(0)
        #expect(machine.next(0)?.work == nil)
        #expect(machine.submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(machine.submit("b", untilMs: 100) == .queued)
        #expect(machine.stop(cutoffMs: 50) == ["b"])
        #expect(machine.stop(cutoffMs: 60) == [])
        #expect(machine.cutoffMs == 50)
        #expect(machine.submit("c", untilMs: 100) == .stopping)
        #expect(!machine.isReady)
        #expect(!machine.isOver(0) && machine.isOver(1))
        #expect(machine.next(0)?.work == "a")
        #expect(!machine.isOver(0))
        machine.finished(0)
        #expect(machine.isOver(0))
        #expect(machine.next(0)?.work == nil)
    }

    @Test mutating func workBereavedWhileStoppingIsDoneOrCutOff() {
        machine.warmed(0)
        #expect(machine.next(0)?.work == nil)
        #expect(machine.submit("a", untilMs: 100) == .handed(slot: 0))
        #expect(machine.stop(cutoffMs: 50) == [])
        #expect(machine.lost(0) == nil)
        #expect(!machine.isOver(0))
        #expect(machine.expire(nowMs: 49) == [])
        #expect(machine.expire(nowMs: 50) == ["a"])
        #expect(machine.isOver(0))
    }

    /// Eight processors: all for a lone job, a share of them for each of those that run or wait.
    @Test mutating func sharesTheProcessors() {
        for slot in [0, 1] {
            machine.warmed(slot)
            #expect(machine.next(slot)?.work == nil)
        }
        #expect(machine.submit("a", untilMs: 100) == .handed(slot: 1))
        #expect(machine.next(1)?.threads == 8)
        #expect(machine.submit("b", untilMs: 100) == .handed(slot: 0))
        #expect(machine.submit("c", untilMs: 100) == .queued)
        #expect(machine.next(0)?.threads == 2)
        machine.finished(1)
        #expect(machine.next(1)?.threads == 4)
        var small = WorkerPool.StateMachine<String>(slots: 1, queueLengthMax: 9, processors: 2)
        for work in ["a", "b", "c"] { #expect(small.submit(work, untilMs: 100) == .queued) }
        small.warmed(0)
        #expect(small.next(0)?.threads == 1)
    }
}
