import Core
import Foundation
import HTTP
import Posix
import Support
import Testing
import WorkerPool

@testable import Service

/// Who may send a body.
@Suite struct AdmissionTests {
    private var machine = Admission.StateMachine(queueLengthMax: 8)

    private func load(running: Int, waiting: Int, jobMs: Int = 200) -> WorkerPool.Load {
        WorkerPool.Load(workers: 2, running: running, waiting: waiting, jobUs: jobMs * 1000)
    }

    @Test mutating func idleWorkersAndTheQueueMakeTheRoom() {
        for _ in 0..<10 { #expect(machine.ask(nowMs: 0, load(running: 0, waiting: 0)) != nil) }
        #expect(machine.ask(nowMs: 0, load(running: 0, waiting: 0)) == nil)
        #expect(Admission.StateMachine(queueLengthMax: 8).asked(load(running: 2, waiting: 7)))
        #expect(!Admission.StateMachine(queueLengthMax: 8).asked(load(running: 2, waiting: 8)))
    }

    @Test mutating func whatIsOverMakesRoomOnce() {
        let busy = load(running: 2, waiting: 7)
        let first = machine.ask(nowMs: 0, busy) ?? 0
        #expect(first > 0)
        #expect(machine.ask(nowMs: 0, busy) == nil)
        machine.arrived(first, bytes: 1, nowMs: 0)
        machine.arrived(first, bytes: 1, nowMs: 0)
        machine.gone(first)
        let second = machine.ask(nowMs: 0, busy) ?? 0
        #expect(second > first)
        machine.gone(second)
        machine.gone(second)
        #expect(machine.ask(nowMs: 0, busy) != nil)
        #expect(machine.ask(nowMs: 0, busy) == nil)
    }

    /// Those who send next to nothing hold nobody up for longer than a second, however many follow them.
    @Test mutating func slowSendersKeepNobodyOut() {
        for round in 0..<3 {
            let nowMs = round * 1001
            for _ in 0..<10 { #expect(machine.ask(nowMs: nowMs, load(running: 0, waiting: 0)) != nil) }
            #expect(machine.ask(nowMs: nowMs + 1000, load(running: 0, waiting: 0)) == nil)
        }
        #expect(machine.ask(nowMs: 3003, load(running: 0, waiting: 0)) != nil)
    }

    /// Nor do those who send a few bytes slowly, to the end: they do not teach it to wait for such.
    @Test mutating func slowBodiesTeachNothing() {
        for round in 0..<100 {
            let id = machine.ask(nowMs: round * 10_000, load(running: 0, waiting: 0)) ?? 0
            machine.arrived(id, bytes: 2, nowMs: round * 10_000 + 9300)
        }
        for _ in 0..<10 { #expect(machine.ask(nowMs: 2_000_000, load(running: 0, waiting: 0)) != nil) }
        #expect(machine.ask(nowMs: 2_000_000, load(running: 0, waiting: 0)) == nil)
        #expect(machine.ask(nowMs: 2_001_001, load(running: 0, waiting: 0)) != nil)
    }

    @Test mutating func saysWhenToComeBack() {
        #expect(machine.retryAfterSeconds(nowMs: 0, load(running: 0, waiting: 0)) == 1)
        #expect(machine.retryAfterSeconds(nowMs: 0, load(running: 2, waiting: 8)) == 1)
        #expect(machine.retryAfterSeconds(nowMs: 0, load(running: 2, waiting: 8, jobMs: 201)) == 2)
        #expect(machine.retryAfterSeconds(nowMs: 0, load(running: 2, waiting: 8, jobMs: 2000)) == 10)
        #expect(machine.retryAfterSeconds(nowMs: 0, load(running: 2, waiting: 8, jobMs: 20_000)) == 60)
    }

    /// Ten times what two workers can do (10 a second), for a minute, with bodies that take as long as a phone's: the
    /// workers never stand still for want of work, and hardly a body comes in vain.
    @Test(arguments: [5, 300, 2000, 5000]) mutating func keepsTheWorkersBusyAtTenTimesTheirCapacity(uploadMs: Int) {
        var bodies: [(id: Int, atMs: Int)] = []
        var workers = [0, 0]
        var waiting = 0
        var done = 0
        var vain = 0
        var idleMs = 0
        var count = 0
        for nowMs in 0..<60_000 {
            let running = workers.count { $0 > nowMs }
            while waiting > 0, let free = workers.firstIndex(where: { $0 <= nowMs }) {
                workers[free] = nowMs + 200
                waiting -= 1
                done += 1
            }
            if nowMs >= 20_000 { idleMs += workers.count { $0 <= nowMs } }
            if nowMs.isMultiple(of: 10),
                let id = machine.ask(
                    nowMs: nowMs, load(running: max(running, workers.count { $0 > nowMs }), waiting: waiting))
            {
                count += 1
                // A fifth faster or slower than the rest.
                bodies.append((id, nowMs + uploadMs * (4 + count % 3) / 5))
            }
            for body in bodies where body.atMs == nowMs {
                machine.arrived(body.id, bytes: 3_000_000, nowMs: nowMs)
                if waiting < 16 { waiting += 1 } else { vain += 1 }
            }
            bodies.removeAll { $0.atMs <= nowMs }
        }
        #expect(Double(idleMs) < 0.05 * 80_000, "idle for \(idleMs) of 80000 ms of work")
        #expect(vain * 10 < done, "\(vain) in vain, \(done) done")
    }

    @Test(arguments: Transport.allCases) func refusesBeforeTheBody(transport: Transport) throws {
        let world = try World(transport)
        world.runner.carry(WorkerPool.Load(workers: 1, running: 1, waiting: 4, jobUs: 1_500_000))
        for path in ["/v1/images", "/v1/convert"] {
            let answer = try world.send("POST", path, body: world.jpeg)
            #expect(answer.status == 503)
            #expect(try answer.problemCode() == "busy")
            #expect(answer["Retry-After"] == "8")
        }
        #expect(world.runner.jobs.isEmpty)
        #expect(try world.send("GET", "/healthz").status == 200)
        #expect(try world.send("GET", "/readyz").status == 200)
        #expect(try world.send("GET", "/v1/images/20261130T172233123Z-00000000000000000000000011.jpg").status == 404)
        world.runner.carry(WorkerPool.Load(workers: 1, running: 1, waiting: 3))
        #expect(try world.send("POST", "/v1/convert", body: world.jpeg).status == 200)
    }

    /// Its permit is let go of however the request ends: a dozen leave no trace.
    @Test(arguments: Transport.allCases) func everyRequestLeavesTheCount(transport: Transport) throws {
        let world = try World(transport)
        for round in 0..<12 {
            switch round % 3 {
            case 0: _ = try world.send("POST", "/v1/images", body: world.jpeg)
            case 1: _ = try world.send("POST", "/v1/images", body: [])
            default: _ = try world.send("POST", "/v1/images", body: [UInt8](repeating: 0, count: 200_000))
            }
        }
        world.runner.carry(WorkerPool.Load(workers: 1, running: 1, waiting: 3))
        #expect(try world.send("POST", "/v1/convert", body: world.jpeg).status == 200)
    }

    @Test func learnsWhatAFormatTakes() {
        let forecast = Forecast()
        #expect(forecast.milliseconds(.heic, bytes: 1_300_000) == 182)
        #expect(forecast.milliseconds(.jpeg, bytes: 4_000_000) == 40)
        for _ in 0..<60 { forecast.learn(.jpeg, bytes: 1_000_000, tookUs: 500_000) }
        #expect((490...500).contains(forecast.milliseconds(.jpeg, bytes: 1_000_000)))
        #expect(forecast.milliseconds(.heic, bytes: 1_300_000) == 182)
    }

    /// 400 KB that took 2 s: a sample counts for an eighth, and for no more than eight times what was.
    @Test func aStrangePictureSaysLittleAboutPhotos() {
        let forecast = Forecast()
        forecast.learn(.jpeg, bytes: 400_000, tookUs: 2_000_000)
        #expect((74...76).contains(forecast.milliseconds(.jpeg, bytes: 4_000_000)))
    }
}

extension Admission.StateMachine {
    fileprivate func asked(_ load: WorkerPool.Load) -> Bool {
        var copy = self
        return copy.ask(nowMs: 0, load) != nil
    }
}
