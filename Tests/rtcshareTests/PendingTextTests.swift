import Testing

@testable import rtcshare

@Suite("Text that waits for the terminal")
struct PendingTextTests {
    /// A terminal that accepts a number of bytes, and then none.
    private final class Screen {
        var text = ""
        var room = Int.max

        func take(_ bytes: ArraySlice<UInt8>) -> Int {
            let taken = bytes.prefix(room)
            text += String(decoding: taken, as: UTF8.self)
            if room < .max { room -= taken.count }
            return taken.count
        }
    }

    @Test("Text keeps its order while the terminal stops and continues")
    func order() {
        let screen = Screen()
        var pending = PendingText()
        pending.append("one\n", to: screen.take)
        screen.room = 2
        pending.append("two\n", to: screen.take)
        pending.append("three\n", to: screen.take)
        #expect(screen.text == "one\ntw" && !pending.isEmpty)
        screen.room = .max
        pending.write(to: screen.take)
        #expect(screen.text == "one\ntwo\nthree\n" && pending.isEmpty)
    }

    @Test("Only the newest waiting status is written")
    func status() {
        let screen = Screen()
        var pending = PendingText()
        pending.setStatus("1 s", to: screen.take)
        screen.room = 0
        for second in 2...9 { pending.setStatus("\(second) s", to: screen.take) }
        screen.room = .max
        pending.append("end\n", to: screen.take)
        #expect(screen.text == "\r\u{1B}[K1 s\r\u{1B}[Kend\n")
        pending.setStatus("10 s", to: screen.take)
        pending.finishStatus(to: screen.take)
        pending.finishStatus(to: screen.take)
        #expect(screen.text.hasSuffix("\r\u{1B}[K10 s\n") && pending.isEmpty)
    }

    @Test("A terminal that stays stopped costs limited memory, and the missing text is reported later")
    func limit() {
        let screen = Screen()
        var pending = PendingText()
        screen.room = 0
        let line = String(repeating: "x", count: 999) + "\n"
        for _ in 0..<100 { pending.append(line, to: screen.take) }
        screen.room = .max
        pending.append("later\n", to: screen.take)
        #expect(screen.text.count < PendingText.limit + 100)
        #expect(screen.text.hasSuffix("x\nSome messages are missing here: nothing could be written.\n"))
        pending.append("end\n", to: screen.take)
        #expect(screen.text.hasSuffix("written.\nend\n") && pending.isEmpty)
    }
}
