// @ts-check
/**
 * Device Memory as a tool of the shell: lists the session's device memory profiles, opens the one that the address
 * names (or the first), and puts its workspace on the page.
 */
import { createLatest, fetchDeviceMemory, fetchDeviceMemoryProfile } from "../../api.js";
import { errorOfOne } from "../../shell/messages.js";
import { createStage } from "../../shell/stage.js";
import { createChoices } from "./views/choices.js";
import { noFiles, unknownFile } from "./views/empty_states.js";
import { createWorkspace } from "./workspace.js";

const MOUSE = [
  ["click a frame", "zoom into it; click the one on top to go back to its caller"],
  ["click a function", "search it: see where it is called"],
];

export function mount(shell) {
  const { params, progress } = shell;
  const stage = createStage(shell);
  const { session } = stage;
  const choices = createChoices(params, openFile);
  const latest = createLatest();
  let files = null;
  let opened = "";

  shell.side.append(choices.node);
  shell.hosts.show([], null);
  const stops = [params.watch(["file", "frames"], openFromAddress), shell.keys.add("Device Memory", keys(), MOUSE)];
  list();

  function openFile(file) {
    params.go({ file, zoom: null });
  }

  async function list() {
    try {
      const reply = await progress.during(
        `looking for device memory profiles in ${session}`,
        latest.run((signal) => fetchDeviceMemory(session, signal)),
      );
      files = reply.files;
      openFromAddress();
    } catch (error) {
      stage.sayError(error);
    }
  }

  async function openFromAddress() {
    if (files === null) return;
    if (files.length === 0) return stage.say(noFiles(session));
    const { frames } = params.get();
    const name = params.get().file ?? files[0].name;
    choices.setFiles({ files }, name);
    if (!files.some((file) => file.name === name)) return stage.say(unknownFile(name, files, openFile));
    const key = JSON.stringify([name, frames]);
    if (key === opened && stage.workspace()) return;
    opened = key;
    try {
      const query = { session, file: name, frames };
      const reply = await progress.during(
        `reading ${name}`,
        latest.run((signal) => fetchDeviceMemoryProfile(query, signal)),
      );
      stage.open(`${reply.file}, device memory`, () => createWorkspace(reply, params, across())).start();
    } catch (error) {
      if (error.name !== "AbortError") stage.say(errorOfOne(error, "file", files.length));
    }
  }

  function across() {
    const devices = new Set(files.flatMap((file) => file.groups.map((group) => group.device)).filter(Boolean));
    const onOpen = (file, device) => params.go({ file, device, zoom: null });
    return { hasSeveral: files.length > 1 || devices.size > 1, onOpen };
  }

  function keys() {
    const act = (run) => stage.act(({ state }) => run(state.actions));
    const open = (delta) => () => {
      const name = choices.neighbour(delta);
      if (name !== null) openFile(name);
    };
    return [
      { keys: ["/"], label: "search functions", run: stage.act((now) => now.focusSearch()) },
      { keys: ["f"], label: "the next finding", run: stage.act((now) => now.nextFinding(1)) },
      { keys: ["F"], shown: "Shift f", label: "the finding before", run: stage.act((now) => now.nextFinding(-1)) },
      { keys: ["j"], label: "next file", run: open(1) },
      { keys: ["k"], label: "previous file", run: open(-1) },
      { keys: ["s"], label: "zoom out to the caller", run: act((actions) => actions.zoomOut()) },
      { keys: ["0"], label: "show everything", run: act((actions) => actions.zoomTo(0)) },
      {
        keys: ["Escape"],
        shown: "Esc",
        label: "let go of the search, then of the zoom",
        run: act((actions) => actions.letGo()),
      },
    ];
  }

  function unmount() {
    latest.stop();
    stops.forEach((stop) => stop());
    choices.dispose();
    stage.clear();
  }

  return { unmount, redraw: stage.redraw };
}
