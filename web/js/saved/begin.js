// @ts-check
// The first module of a saved page: the replies in it stand in for the server. Does something when it is imported, as
// ask_ahead.js does, which comes next.
import { keepInFragment } from "../base/address.js";
import { answerFrom } from "../early.js";
import { createAnswers, readSaved } from "./answers.js";

const saved = readSaved();
keepInFragment(saved.address);
answerFrom(createAnswers(saved));
