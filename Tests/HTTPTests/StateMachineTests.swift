import Testing

@testable import HTTP

@Suite struct StateMachineTests {
    private typealias Machine = Exchange.StateMachine
    private typealias Progress = Exchange.StateMachine.Progress

    private func machine(_ configure: (inout Configuration) -> Void = { _ in }) throws -> Machine {
        var times = Configuration(listen: try #require(ListenAddress("127.0.0.1:0")))
        times.headMs = 100
        times.keepAliveMs = 1000
        times.paceWindowMs = 100
        times.bytesPerSecondMin = 1000
        times.drainBytesMax = 50
        times.drainMs = 100
        times.missedEndMs = 60
        configure(&times)
        return Machine(times, nowMs: 0)
    }

    /// A machine that has accepted a request.
    private func accepted(_ bodyBytesMax: Int = 10) throws -> Machine {
        var machine = try machine()
        machine.requestLineCame(nowMs: 0)
        #expect(machine.headCame(.accept(bodyBytesMax: bodyBytesMax), nowMs: 0) == .goOn)
        return machine
    }

    @Test func aReplyWithinTheCallIsQueuedAtOnce() throws {
        var machine = try accepted()
        #expect(machine.pieceCame(10) == .keep)
        #expect(machine.finalCall(nowMs: 0) == .handle)
        #expect(machine.replyCame(serial: 1) == .leave)
        #expect(machine.handlerReturned(nowMs: 0) == .queue)
        #expect(machine.isBusy)
        machine.requestEnded(nowMs: 0, received: 0)
        #expect(!machine.isBusy)
    }

    @Test func aReplyInTheIdleTurnNeedsNoSuspension() throws {
        var machine = try accepted()
        #expect(machine.finalCall(nowMs: 0) == .handle)
        #expect(machine.handlerReturned(nowMs: 0) == .goOn)
        #expect(machine.replyCame(serial: 1) == .leave)
        #expect(machine.finalCall(nowMs: 0) == .queue)
    }

    @Test func aLaterReplyResumesOnce() throws {
        var machine = try accepted()
        #expect(machine.finalCall(nowMs: 0) == .handle)
        #expect(machine.handlerReturned(nowMs: 0) == .goOn)
        #expect(machine.finalCall(nowMs: 0) == .suspend)
        #expect(machine.replyCame(serial: 1) == .resume)
        #expect(machine.replyCame(serial: 1) == .ignore)
        #expect(machine.finalCall(nowMs: 0) == .queue)
        #expect(machine.replyCame(serial: 1) == .ignore)
    }

    @Test func aReplyToAnEarlierRequestIsIgnored() throws {
        var machine = try accepted()
        #expect(machine.finalCall(nowMs: 0) == .handle)
        #expect(machine.replyCame(serial: 1) == .leave)
        #expect(machine.handlerReturned(nowMs: 0) == .queue)
        machine.requestEnded(nowMs: 0, received: 0)
        machine.requestLineCame(nowMs: 0)
        #expect(machine.headCame(.accept(bodyBytesMax: 0), nowMs: 0) == .goOn)
        #expect(machine.finalCall(nowMs: 0) == .handle)
        #expect(machine.replyCame(serial: 1) == .ignore)
        #expect(machine.replyCame(serial: 2) == .leave)
    }

    @Test func aReplyAfterTheEndIsIgnored() throws {
        var machine = try accepted()
        #expect(machine.finalCall(nowMs: 0) == .handle)
        machine.closed()
        #expect(machine.replyCame(serial: 1) == .ignore)
    }

    @Test func refusalsGoTheWayThatKeepsTheConnectionIfAnyDoes() throws {
        var machine = try machine()
        machine.requestLineCame(nowMs: 0)
        let start = machine
        #expect(machine.headCame(.refuse(.none, expectsContinue: false), nowMs: 0) == .goOn)
        #expect(machine.finalCall(nowMs: 0) == .queue)
        machine = start
        #expect(machine.headCame(.refuse(.length(0), expectsContinue: true), nowMs: 0) == .goOn)
        machine = start
        #expect(machine.headCame(.refuse(.length(9), expectsContinue: true), nowMs: 0) == .queue)
        machine = start
        #expect(machine.headCame(.refuse(.length(9), expectsContinue: false), nowMs: 0) == .answerOverSocket)
        machine = start
        #expect(machine.headCame(.refuse(.chunked, expectsContinue: false), nowMs: 0) == .answerOverSocket)
        machine = start
        #expect(machine.headCame(.refuseUnframed, nowMs: 0) == .queue)
    }

    @Test func tooMuchIsAnsweredAndThenSwallowedWithinBounds() throws {
        var machine = try accepted(10)
        #expect(machine.pieceCame(10) == .keep)
        #expect(machine.pieceCame(1) == .overLimit(10))
        machine.answeredOverSocket(nowMs: 0)
        #expect(machine.pieceCame(50) == .swallow)
        #expect(machine.pieceCame(1) == .drop)
        #expect(machine.finalCall(nowMs: 0) == .drop)
        #expect(machine.bytesIn == 62)
    }

    @Test func swallowingEndsInTime() throws {
        var machine = try accepted()
        machine.answeredOverSocket(nowMs: 10)
        #expect(machine.tick(nowMs: 109, Progress()) == .leave)
        #expect(machine.tick(nowMs: 110, Progress()) == .shutDown)
    }

    @Test func aHeadHasItsTime() throws {
        var machine = try machine()
        #expect(machine.tick(nowMs: 99, Progress()) == .leave)
        #expect(machine.tick(nowMs: 100, Progress()) == .shutDown)
        #expect(machine.tick(nowMs: 100, Progress(received: 1)) == .timeOut)
        // The request line does not start the clock anew.
        machine.requestLineCame(nowMs: 90)
        #expect(machine.tick(nowMs: 100, Progress(received: 20)) == .timeOut)
    }

    @Test func anIdleConnectionWaitsLongerUntilAHeadBegins() throws {
        var machine = try accepted()
        machine.requestEnded(nowMs: 0, received: 500)
        #expect(machine.tick(nowMs: 999, Progress(received: 500)) == .leave)
        #expect(machine.tick(nowMs: 1000, Progress(received: 500)) == .shutDown)
        #expect(machine.tick(nowMs: 500, Progress(received: 501)) == .leave)
        #expect(machine.tick(nowMs: 599, Progress(received: 520)) == .leave)
        #expect(machine.tick(nowMs: 600, Progress(received: 520)) == .timeOut)
    }

    @Test func aClosedPeerIsNoticed() throws {
        var machine = try machine()
        let closed = Progress(received: 5, peerHasClosed: true)
        #expect(machine.tick(nowMs: 10, closed) == .leave)
        #expect(machine.tick(nowMs: 69, closed) == .leave)
        #expect(machine.tick(nowMs: 70, closed) == .shutDown)
        // Its whole request is nevertheless handled and answered.
        #expect(machine.headCame(.accept(bodyBytesMax: 0), nowMs: 70) == .goOn)
        #expect(machine.finalCall(nowMs: 70) == .handle)
        #expect(machine.tick(nowMs: 1000, closed) == .leave)
        #expect(machine.replyCame(serial: 0) == .leave)
        // Its last request may still lie unread in the kernel, so an idle connection is not cut off at once either.
        machine.requestEnded(nowMs: 1000, received: 5)
        #expect(machine.tick(nowMs: 1001, closed) == .leave)
        #expect(machine.tick(nowMs: 1061, closed) == .shutDown)
    }

    @Test func aBodyHasItsPace() throws {
        var machine = try accepted(1000)
        #expect(machine.pieceCame(100) == .keep)
        #expect(machine.tick(nowMs: 99, Progress()) == .leave)
        #expect(machine.tick(nowMs: 100, Progress()) == .settle(bytes: 100))
        #expect(machine.pieceCame(99) == .keep)
        #expect(machine.tick(nowMs: 199, Progress()) == .settle(bytes: 199))
        #expect(machine.tick(nowMs: 200, Progress()) == .timeOut)
    }

    @Test func aReaderHasItsPaceWhereItCanBeTold() throws {
        var machine = try accepted()
        #expect(machine.finalCall(nowMs: 0) == .handle)
        #expect(machine.tick(nowMs: 10_000, Progress(received: 9)) == .leave)
        #expect(machine.replyCame(serial: 1) == .leave)
        #expect(machine.handlerReturned(nowMs: 10_000) == .queue)
        #expect(machine.tick(nowMs: 10_000, Progress(received: 9)) == .leave)
        var blind = machine
        #expect(blind.tick(nowMs: 20_000, Progress()) == .leave)
        // Its host has vanished, or it never reads: not a byte was ever taken.
        var silent = machine
        #expect(silent.tick(nowMs: 10_100, Progress(received: 9)) == .abort)
        #expect(machine.tick(nowMs: 10_100, Progress(received: 9, acknowledged: 100)) == .leave)
        #expect(machine.tick(nowMs: 10_199, Progress(received: 9, acknowledged: 199)) == .leave)
        #expect(machine.tick(nowMs: 10_200, Progress(received: 9, acknowledged: 199)) == .abort)
    }

    @Test func stoppingTellsUploadsAndLeavesTheRest() throws {
        var machine = try machine()
        #expect(machine.stop() == .leave)
        machine.requestLineCame(nowMs: 0)
        #expect(machine.headCame(.accept(bodyBytesMax: 5), nowMs: 0) == .goOn)
        #expect(machine.stop() == .answer)
        #expect(machine.finalCall(nowMs: 0) == .handle)
        #expect(machine.stop() == .leave)
        machine.requestEnded(nowMs: 0, received: 0)
        #expect(machine.stop() == .shutDown)
        machine.shutDown()
        #expect(machine.stop() == .leave)
        #expect(machine.pieceCame(1) == .drop)
    }

    @Test func afterTheGraceNothingIsHandled() throws {
        var machine = try accepted()
        machine.stopNow()
        #expect(machine.finalCall(nowMs: 0) == .drop)
    }
}
