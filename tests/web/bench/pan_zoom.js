// How fast the timeline pans and zooms with 100 000 blocks: node tests/web/bench/pan_zoom.js
// The view is made up here and put in the place of a real one's answer; everything else is the real page.
import { newPage, open, startBrowser, startServer } from "../browser/harness.js";

const BLOCKS = 100000;
const COLUMNS = 400;
const STEPS = 200000;
const HEIGHT_BYTES = 64 * 2 ** 30;
const FRAMES = 90;
const QUERY = "?run=v5e_gpt_12layer_oom&module_name=jit_train_step(1)";

const server = await startServer();
const browser = await startBrowser();
try {
  const page = await newPage(browser, server);
  await page.route("**/api/v1/memory_view*", async (route) => {
    const view = await (await route.fetch()).json();
    await route.fulfill({ json: enlarged(view) });
  });
  await open(page, server, QUERY);
  await page.locator(".blocks").scrollIntoViewIfNeeded();
  for (const [name, perSecond, worstMs] of await page.evaluate(measure, FRAMES)) {
    console.log(`${name.padEnd(10)} ${perSecond.toFixed(1)} frames/s, slowest frame ${worstMs.toFixed(1)} ms`);
  }
} finally {
  await browser.close();
  server.stop();
}

/** The same program with a grid of blocks in place of its buffers. */
function enlarged(view) {
  const heap = Array.from({ length: STEPS + 1 }, (_, i) =>
    Math.round(HEIGHT_BYTES * Math.sin((Math.PI * i) / STEPS)),
  );
  const allocation = view.allocations.index[view.allocations.category.indexOf(4)];
  const rows = BLOCKS / COLUMNS;
  const column = (value) => Array.from({ length: BLOCKS }, (_, i) => value(i % COLUMNS, Math.floor(i / COLUMNS), i));
  const start = (x, y) => Math.floor((x * STEPS) / COLUMNS) + (y % 5) * 20;
  const zeros = column(() => 0);
  const buffers = {
    logical_buffer_id: column((x, y, i) => i),
    allocation: column(() => allocation),
    offset: column((x, y) => Math.floor((y * HEIGHT_BYTES) / rows)),
    size_bytes: column((x, y, i) => Math.floor((HEIGHT_BYTES / rows) * (0.5 + ((i * 7) % 10) / 20))),
    unpadded_bytes: column(() => -1),
    start_step: column(start),
    end_step: column((x, y) => start(x, y) + STEPS / COLUMNS - 100),
    category: column(() => 4),
    instruction: column((x, y, i) => 1 + (i % (view.strings.length - 1))),
    opcode: zeros,
    shape: zeros,
    op_name: zeros,
    source: zeros,
  };
  const program = { steps: STEPS, heap_bytes: heap, unpadded_bytes: heap, instruction: heap.map(() => 0) };
  const totals = { ...view.totals, peak_position: STEPS / 2 - 1, peak_bytes: HEIGHT_BYTES };
  return { ...view, program, buffers, totals, at_peak: [] };
}

/** Runs in the page: mouse events on the canvas, one a frame. */
async function measure(frames) {
  const canvas = document.querySelector(".blocks-base");
  canvas.setPointerCapture = () => {};
  const box = canvas.getBoundingClientRect();
  const middle = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
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
    const began = performance.now();
    let last = began;
    let worst = 0;
    for (let i = 0; i < frames; i += 1) {
      act(i);
      await frame();
      const now = performance.now();
      worst = Math.max(worst, now - last);
      last = now;
    }
    return [name, (1000 * frames) / (last - began), worst];
  }

  const moved = (x) => fire(PointerEvent, "pointermove", { clientX: middle.x + x });
  const out = [await run("hover", (i) => moved(3 * i - 130))];
  out.push(await run("zoom in", () => fire(WheelEvent, "wheel", { deltaY: -20 })));
  fire(PointerEvent, "pointerdown", { button: 0 });
  out.push(await run("pan", (i) => moved(200 * Math.sin(i / 10))));
  fire(PointerEvent, "pointerup", {});
  out.push(await run("zoom out", () => fire(WheelEvent, "wheel", { deltaY: 20 })));
  return out;
}
