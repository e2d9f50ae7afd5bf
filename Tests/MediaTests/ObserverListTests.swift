import RTCShareMedia
import Testing

@Suite struct ObserverListTests {
    private final class Observer: Sendable {}

    @Test("A list of a final class skips an observer that was released")
    func released() {
        let list = ObserverList<Observer>()
        list.add(Observer())
        list.forEach { _ in Issue.record("the observer was released") }
        let observer = Observer()
        list.add(observer)
        list.add(Observer())
        var calls = 0
        list.forEach { calls += $0 === observer ? 1 : 0 }
        #expect(calls == 1)
    }
}
