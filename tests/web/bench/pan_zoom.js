// How fast a chart zooms and pans: node tests/web/bench/pan_zoom.js LOGDIR [timeline | blocks]
//
//     timeline    of the Memory Profile
//     blocks      the buffer allocation timeline; tests/bench/large_program.py makes programs of any size
//
// Everything is real: the program, the page, and the windows it asks for on the way.
import { newPage, open, startBrowser, startServer } from "../browser/harness.js";

const CHARTS = {
  timeline: { tool: "memory_profile", canvas: ".timeline-base", counts: "#timeline-events" },
  blocks: { tool: "memory_viewer", canvas: ".blocks-base", counts: "#blocks-merged" },
};
const FRAMES = 120;
const SIZES = [
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
];

const { tool, canvas, counts } = CHARTS[process.argv[3] ?? "timeline"];
const server = await startServer(process.argv[2]);
const browser = await startBrowser();
try {
  for (const viewport of SIZES) {
    const page = await newPage(browser, server, { viewport });
    await open(page, server, `?tag=${tool}`);
    await page.locator(canvas).scrollIntoViewIfNeeded();
    console.log(`${viewport.width} x ${viewport.height}, ${await page.textContent(counts)}`);
    for (const [name, ...times] of await page.evaluate(measure, [canvas, FRAMES])) {
      const [median, most, worst] = times.map((time) => time.toFixed(1));
      console.log(`  ${name.padEnd(9)} median ${median} ms a frame, 95 % within ${most} ms, slowest ${worst} ms`);
    }
    await page.context().close();
  }
} finally {
  await browser.close();
  server.stop();
}

/** Runs in the page: mouse events on the plot, one a frame; the time from frame to frame. */
async function measure([selector, frames]) {
  const canvas = document.querySelector(selector);
  canvas.setPointerCapture = () => {};
  const box = canvas.getBoundingClientRect();
  const middle = { x: box.left + box.width * 0.4, y: box.top + box.height / 2 };
  const fire = (Kind, type, options) =>
    canvas.dispatchEvent(
      new Kind(type, {
        bubbles: true,
        cancelable: true,
        clientX: middle.x,
        clientY: middle.y,
        pointerId: 1,
        ...options,
      }),
    );
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  async function run(name, act) {
    await frame();
    const times = [];
    let last = performance.now();
    for (let i = 0; i < frames; i += 1) {
      act(i);
      await frame();
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    times.sort((a, b) => a - b);
    return [name, times[frames >> 1], times[Math.floor(frames * 0.95)], times[frames - 1]];
  }

  const moved = (x) => fire(PointerEvent, "pointermove", { clientX: middle.x + x });
  const out = [await run("hover", (i) => moved(3 * i - 180))];
  out.push(await run("zoom in", () => fire(WheelEvent, "wheel", { deltaY: -40 })));
  fire(PointerEvent, "pointerdown", { button: 0 });
  out.push(await run("pan", (i) => moved(200 * Math.sin(i / 10))));
  fire(PointerEvent, "pointerup", {});
  out.push(await run("zoom out", () => fire(WheelEvent, "wheel", { deltaY: 40 })));
  return out;
}
