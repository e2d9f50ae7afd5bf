internal import FoundationEssentials
internal import RTCShareCryptography

extension ReportPage {
    /// The security policy, which allows only the page's own script and style. Styles of single elements set their
    /// positions.
    static let securityPolicy = """
        default-src 'none'; script-src \(source(script)); style-src \(source(style)); style-src-attr 'unsafe-inline'; \
        img-src data:; base-uri 'none'; form-action 'none'
        """

    /// Returns a text of the page as a source in its policy (CSP 3 §2.3.1).
    private static func source(_ text: String) -> String {
        let digest = (try? HashFunction.sha256.digest(of: Array(text.utf8).span.bytes)) ?? []
        return "'sha256-\(Data(digest).base64EncodedString())'"
    }

    /// The page's style: its lines have a color and a dash pattern, so that readers without color vision can
    /// distinguish them.
    static let style = """
        :root {
          color-scheme: light dark;
          --paper: #fdfcfa; --raised: #f4f1ec; --ink: #1d1b18; --dim: #625d55; --edge: #d9d4cb;
          --line0: #1f5fbf; --line1: #b3470a; --line2: #177a4b; --line3: #7a3fb0;
          --freeze: #d22f2f40; --pause: #8a857c33; --gap: #8a857c55;
          --calm: #dfe9df; --route: #f3d3a6; --machine: #e2cdf2; --other: #dcd8d0;
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #17181a; --raised: #232427; --ink: #f0ede8; --dim: #aaa59d; --edge: #3b3c40;
            --line0: #7db2ff; --line1: #ffa45c; --line2: #63d69b; --line3: #cf9df5;
            --freeze: #ff5a5a4d; --pause: #aaa59d33; --gap: #aaa59d55;
            --calm: #2f4233; --route: #6b4a17; --machine: #51356b; --other: #45464a;
          }
        }
        *, ::before, ::after { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 2.5rem) 5rem; max-width: 100rem;
          background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
        }
        h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; }
        h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
        h3 { font-size: 1.05rem; margin: 1.25rem 0 .25rem; }
        h4, h5 { font-size: .95rem; margin: 0; }
        h5 { font-weight: 400; line-height: 1.6; color: var(--dim); font-size: .85rem; }
        small { font-weight: 400; color: var(--dim); font-size: .85rem; }
        p { margin: .25rem 0; }
        header p { color: var(--dim); }
        .remark { color: var(--dim); font-style: italic; }
        dl { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .25rem 0 .5rem; font-size: .9rem; }
        dl div { display: flex; flex-wrap: wrap; gap: 0 .4rem; }
        dt { color: var(--dim); }
        dd { margin: 0; font-variant-numeric: tabular-nums; }
        .whole { border-top: 1px solid var(--edge); }
        details { margin: 1rem 0; }
        summary { cursor: pointer; font-weight: 600; }

        .events { max-height: 26rem; overflow: auto; border: 1px solid var(--edge); border-radius: 8px; }
        table { border-collapse: collapse; width: 100%; font-size: .9rem; }
        th, td { text-align: left; vertical-align: top; padding: .3rem .75rem; }
        thead th { position: sticky; top: 0; background: var(--raised); }
        tbody tr + tr { border-top: 1px solid var(--edge); }
        tbody th { font-weight: 400; font-variant-numeric: tabular-nums; white-space: nowrap; }
        tbody a { color: var(--line0); }
        .what b { font-size: .75rem; font-weight: 600; border-radius: 4px; padding: .05rem .35rem; margin-right: .25rem; background: var(--other); }
        .freeze b, .connection b { background: var(--freeze); }
        .loss b, .target b, .delay b, .frames b, .audio b { background: var(--route); }
        .place { min-width: 8.5rem; }
        .why { color: var(--dim); }

        .graphs { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), 1fr)); gap: .9rem 1.5rem; }
        .graph { margin: 0; padding: .6rem .75rem .4rem; background: var(--raised); border-radius: 8px; min-width: 0; }
        figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-bottom: .35rem; }
        figcaption ul { display: flex; flex-wrap: wrap; gap: 0 .9rem; margin: 0; padding: 0; list-style: none; font-size: .82rem; color: var(--dim); }
        li i { display: inline-block; width: 1.1em; height: 0; margin-right: .2em; vertical-align: .28em; border-top: 2.5px solid var(--stroke); }
        li.dashed i { border-top-style: dashed; }
        li.bars i { height: .7em; width: .35em; background: var(--stroke); border: 0; vertical-align: -.05em; }
        output { color: var(--ink); font-variant-numeric: tabular-nums; }
        .line0 { --stroke: var(--line0); } .line1 { --stroke: var(--line1); }
        .line2 { --stroke: var(--line2); } .line3 { --stroke: var(--line3); }

        .plot { position: relative; margin-left: 2.6rem; margin-right: .75rem; }
        .plot svg { display: block; width: 100%; height: 8.5rem; overflow: visible; touch-action: pan-y; }
        .plot path { fill: none; stroke: var(--stroke); stroke-width: 1.8; vector-effect: non-scaling-stroke; stroke-linecap: round; stroke-linejoin: round; }
        .plot path.dashed { stroke-dasharray: 5 4; stroke-width: 1.5; }
        .plot path.bars { stroke-width: 3; stroke-linecap: butt; }
        .plot path.grid { stroke: var(--edge); stroke-width: 1; }
        .plot path.base { stroke: var(--dim); stroke-width: 1; }
        .key { display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin: 0 0 .5rem; font-size: .82rem; color: var(--dim); }
        .key i { display: inline-block; width: 1.1em; height: .9em; vertical-align: -.08em; }
        .key i.freeze { background: var(--freeze); } .key i.pause { background: var(--pause); }
        .key i.gap { background: var(--gap); }
        rect.freeze { fill: var(--freeze); } rect.pause { fill: var(--pause); } rect.gap { fill: var(--gap); }
        .y, .x { position: absolute; font-size: .72rem; color: var(--dim); font-variant-numeric: tabular-nums; }
        .y { inset: 0 auto 1.4rem -2.6rem; width: 2.3rem; }
        .y span { position: absolute; right: 0; transform: translateY(50%); line-height: 1; }
        .x { position: relative; height: 1.4rem; }
        .x span { position: absolute; top: .2rem; transform: translateX(-50%); }
        .x span:first-child { transform: none; }
        .graph { container-type: inline-size; }
        @container (max-width: 24rem) { .x span:nth-child(even) { display: none; } }
        .strip .plot { margin-bottom: .3rem; }
        .track { position: relative; height: 1.6rem; overflow: hidden; border-radius: 4px; }
        .span { position: absolute; top: 0; bottom: 0; padding: .1rem 0 0 .3rem; font-size: .75rem; overflow: hidden; white-space: nowrap; box-shadow: inset 1px 0 #88888866; }
        .span { container-type: inline-size; }
        .span b { font-weight: 400; display: none; }
        @container (min-width: 3.5em) { .span b { display: inline; } }
        .span.calm { background: var(--calm); } .span.route { background: var(--route); }
        .span.machine { background: var(--machine); } .span.other { background: var(--other); }
        .cross[hidden] { display: none; }
        .cross { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--ink); pointer-events: none; }

        #cursor {
          position: fixed; inset: auto 0 0; display: flex; gap: .75rem; align-items: center; padding: .5rem clamp(.75rem, 3vw, 2.5rem);
          background: var(--raised); border-top: 1px solid var(--edge); font-size: .9rem;
        }
        #cursor[hidden] { display: none; }
        #cursor input { flex: 1; min-width: 0; accent-color: var(--line0); }
        :focus-visible { outline: 2px solid var(--line0); outline-offset: 2px; }

        @media (max-width: 40rem) {
          thead { position: absolute; clip-path: inset(50%); }
          tbody tr { display: block; padding: .35rem 0; }
          tbody th, td { display: block; padding: .05rem .75rem; }
          td:empty { display: none; }
        }
        @media print { #cursor { display: none; } .events { max-height: none; } }
        """

    /// The page's script: one time for all graphs, that of the pointer or the slider.
    static let script = """
        "use strict";
        const length = Number(document.body.dataset.length);
        const form = document.getElementById("cursor");
        const slider = document.getElementById("time");
        const clock = form.querySelector("output");
        const hour = length >= 3600;

        const label = (seconds) => {
          const tenths = Math.round(seconds * 10);
          const pad = (value) => String(value).padStart(2, "0");
          const whole = Math.floor(tenths / 10), minutes = Math.floor(whole / 60);
          const start = hour ? Math.floor(minutes / 60) + ":" + pad(minutes % 60) : pad(minutes);
          return start + ":" + pad(whole % 60) + "." + tenths % 10;
        };

        // The index of the last time that is not after this one, or -1.
        const before = (times, time) => {
          let low = 0, high = times.length;
          while (low < high) {
            const middle = (low + high) >> 1;
            if (times[middle] <= time) low = middle + 1; else high = middle;
          }
          return low - 1;
        };

        // A report tells of the time before it: what is shown is that of the report at or after the pointer.
        const valueAt = ([times, values], time) => {
          const index = Math.min(before(times, time - 0.05) + 1, times.length - 1);
          const step = times.length > 1 ? (times[times.length - 1] - times[0]) / (times.length - 1) : 1;
          return Math.abs(times[index] - time) <= 3 * Math.max(step, 1) ? values[index] : undefined;
        };

        const crosses = [...document.querySelectorAll(".plot")].filter((plot) => plot.querySelector("svg, .track")).map((plot) => {
          const cross = document.createElement("div");
          cross.className = "cross";
          cross.hidden = true;
          plot.append(cross);
          return cross;
        });
        const graphs = [...document.querySelectorAll(".graph[data-lines]")].map((figure) =>
          ({ lines: JSON.parse(figure.dataset.lines), outputs: figure.querySelectorAll("output") }));
        const strips = [...document.querySelectorAll(".strip")].map((strip) => {
          const spans = [...strip.querySelectorAll(".span")];
          return { times: spans.map((span) => Number(span.dataset.from)), names: spans.map((span) => span.textContent), output: strip.querySelector("output") };
        });

        const show = (time) => {
          time = Math.min(Math.max(time, 0), length);
          slider.value = time;
          clock.textContent = label(time);
          slider.setAttribute("aria-valuetext", label(time));
          for (const cross of crosses) {
            cross.hidden = false;
            cross.style.left = time / length * 100 + "%";
          }
          for (const { lines, outputs } of graphs) {
            lines.forEach((line, index) => {
              const value = valueAt(line, time);
              outputs[index].textContent = value === undefined ? "–" : String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toFixed(value >= 1 ? 1 : 2)));
            });
          }
          for (const { times, names, output } of strips) output.textContent = names[before(times, time + 0.5)] ?? "–";
        };

        let wanted;
        const showSoon = (time) => {
          if (wanted === undefined) requestAnimationFrame(() => { show(wanted); wanted = undefined; });
          wanted = time;
        };
        for (const type of ["pointermove", "pointerdown"]) {
          addEventListener(type, (event) => {
            const plot = event.target.closest?.(".plot");
            if (!plot) return;
            const box = plot.getBoundingClientRect();
            showSoon((event.clientX - box.left) / box.width * length);
          });
        }
        slider.addEventListener("input", () => showSoon(Number(slider.value)));
        form.addEventListener("submit", (event) => event.preventDefault());
        for (const link of document.querySelectorAll("a[data-time]")) {
          link.addEventListener("click", (event) => {
            event.preventDefault();
            show(Number(link.dataset.time));
          });
        }
        form.hidden = false;
        """
}
