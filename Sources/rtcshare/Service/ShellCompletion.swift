internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture

/// The completions that depend on the machine: screens, windows, audio devices and running shares.
enum ShellCompletion {
    /// A SPEC of `--source`.
    static let source = CompletionKind.custom { _, _, prefix in literal(sources(prefix)) }
    /// A SPEC of `--audio`.
    static let sound = CompletionKind.custom { _, _, prefix in literal(sounds(prefix)) }
    /// The name of a running share.
    static let runningShare = CompletionKind.custom { _, _, _ in plain(ControlSocket.running().map(\.name)) }

    private static let sourceKinds = [
        "test", "display", "portal", "camera", "region:", "window:", "window:title=", "file:", "process:",
    ]
    private static let soundKinds = ["none", "tone", "beep", "file:", "microphone", "system", "process"]

    /// Returns the possible SPECs of video that begin with `prefix`.
    static func sources(
        _ prefix: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        if prefix.hasPrefix("file:") { return files(prefix, endingIn: ".y4m") }
        var found = sourceKinds
        // A completion must not make the desktop ask the user.
        if prefix.hasPrefix("camera"), !CameraDevice.requiresPermission {
            found += ((try? CameraDevice.all()) ?? []).map { SourceSpecification.camera(name: $0.name).description }
        }
        if let display = environment["DISPLAY"], !display.isEmpty {
            // A display that does not answer has no completions; the command itself will report that.
            found += ((try? DisplaySource.outputs(display: display)) ?? []).map {
                SourceSpecification.display(output: $0.name).description
            }
            found += ((try? WindowSource.windows(display: display)) ?? []).map {
                SourceSpecification.window($0.specification).description
            }
        }
        return plain(found)
    }

    /// Returns the possible SPECs of audio that begin with `prefix`.
    static func sounds(
        _ prefix: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        if prefix.hasPrefix("file:") { return files(prefix, endingIn: ".wav") }
        // Devices are listed only after a matching prefix, because the sound server may be slow.
        guard prefix.hasPrefix("microphone") || prefix.hasPrefix("system") else { return soundKinds }
        let server = environment["PULSE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
        let devices = (try? PulseSource.devices(server: server)) ?? []
        return plain(soundKinds + devices.map(\.specification.description))
    }

    /// Returns the files that a `file:` SPEC can name, and the directories to search further.
    private static func files(_ prefix: String, endingIn suffix: String) -> [String] {
        let path = prefix.dropFirst("file:".count)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return plain(
            names.sorted().compactMap { name in
                var isFolder = false
                guard FileManager.default.fileExists(atPath: folder + name, isDirectory: &isFolder) else { return nil }
                if isFolder { return "file:\(folder)\(name)/" }
                return name.hasSuffix(suffix) ? "file:\(folder)\(name)" : nil
            })
    }

    /// Returns only words that are literal in every shell: bash expands completions, and a file may be named `$(…)`.
    static func plain(_ words: [String]) -> [String] {
        words.filter { word in
            word.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", ",", ":", "=", "+", "/", "@", "%": true
                default: scalar.value >= 0xA1
                }
            }
        }
    }

    /// Returns the words in the form for the requesting shell: for zsh, a colon begins a description.
    private static func literal(_ words: [String]) -> [String] {
        CompletionShell.requesting == .zsh ? words.map { $0.replacing(":", with: "\\:") } : words
    }

    /// Returns the script that a shell sources.
    static func script(for shell: CompletionShell) -> String {
        let script = RTCShareCommand.completionScript(for: shell) + "\n"
        return shell == .bash ? script + bashWords : script
    }

    /// An addition for bash, which splits a SPEC at its colons, although the generated script expects one word. And
    /// `unit` has another command as its argument, whose options are completed.
    private static let bashWords = #"""

        _rtcshare_words() {
            local -a words=()
            local -i index current=0
            local word blank fragment="$2" head="" rest="${COMP_LINE}"
            for ((index = 0; index < ${#COMP_WORDS[@]}; index++)); do
                word="${COMP_WORDS[index]}"
                blank="${rest%%[^[:space:]]*}"
                rest="${rest#"${blank}"}"
                rest="${rest#"${word}"}"
                # Text that follows without a blank is the same word.
                if [[ ${index} -gt 0 && -z "${blank}" && -n "${word}" ]]; then
                    words[${#words[@]} - 1]+="${word}"
                else
                    words+=("${word}")
                fi
                if [[ ${index} -eq ${COMP_CWORD} ]]; then
                    current=$((${#words[@]} - 1))
                    head="${words[current]%"${word}"}"
                    # A colon, or the like, is not replaced.
                    [[ -n "${fragment}" ]] || head+="${word}"
                fi
            done
            if [[ "${words[1]}" = unit ]]; then
                for ((index = 2; index < current; index++)); do
                    if [[ "${words[index]}" = @(capture|send|serve) ]]; then
                        words=("${words[0]}" "${words[@]:index}")
                        current=$((current - index + 1))
                        break
                    fi
                done
            fi
            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD=${current}
            local COMP_LINE="${words[*]:0:current}" COMP_POINT
            COMP_LINE+=" ${head}${fragment}"
            COMP_POINT=${#COMP_LINE}
            COMP_WORDS[current]="${head}${fragment}"
            _rtcshare "$1" "${head}${fragment}" "${words[current - 1]}"
            COMPREPLY=("${COMPREPLY[@]#"${head}"}")
            case "${words[current - 1]}" in
            --source | --camera | --audio | --microphone | switch | camera | --ice-server)
                # A SPEC is not a file: bash would escape its colons. A SPEC that ends with one continues.
                compopt +o filenames 2>/dev/null
                [[ "${COMPREPLY[0]}" = *[:=/] ]] && compopt -o nospace 2>/dev/null
                ;;
            esac
        }
        complete -o filenames -F _rtcshare_words rtcshare

        """#
}
