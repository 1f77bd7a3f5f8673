import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  dateIn,
  datesBetween,
  earliestDate,
  isCurrentSomewhere,
  isDate,
  latestDate,
  monthOf,
  startOfDate,
  weekOf,
} from "../../../../server/platform/time/days.ts";

const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString();

describe("calendar days", () => {
  it("follow the time zone", () => {
    const now = at("2026-03-01T10:30:00Z");
    for (const [zone, date] of [
      ["UTC", "2026-03-01"],
      ["Pacific/Kiritimati", "2026-03-02"],
      ["Etc/GMT+12", "2026-02-28"],
      ["Asia/Kathmandu", "2026-03-01"],
      ["Etc/GMT-14", "2026-03-02"],
    ] as const)
      assert.equal(dateIn(zone, now), date, zone);
  });

  it("begin correctly where clocks jump", () => {
    for (const [zone, date, start] of [
      // 23 and 25 hours long.
      ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z"],
      ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00.000Z"],
      ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z"],
      ["Europe/Berlin", "2026-10-26", "2026-10-25T23:00:00.000Z"],
      // Midnight does not exist: the day begins at one o'clock.
      ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z"],
      // Midnight comes twice, and the first one counts.
      ["America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z"],
      ["Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00.000Z"],
      ["Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00.000Z"],
      ["Etc/GMT+12", "2026-01-01", "2026-01-01T12:00:00.000Z"],
    ] as const)
      assert.equal(iso(startOfDate(zone, date)), start, `${zone} ${date}`);
  });

  it("are contiguous: the last millisecond of one is followed by the first of the next", () => {
    for (const zone of ["Europe/Berlin", "Africa/Cairo", "America/Santiago", "Asia/Beirut"])
      for (const date of datesBetween("2026-01-01", "2026-12-31")) {
        const start = startOfDate(zone, date);
        assert.equal(dateIn(zone, start), date);
        assert.ok(dateIn(zone, start - 1) < date, `${zone} ${date}`);
      }
  });

  it("are current somewhere on Earth for fifty hours", () => {
    const date = "2026-06-15";
    assert.equal(isCurrentSomewhere(date, at("2026-06-14T09:59:59.999Z")), false);
    assert.equal(isCurrentSomewhere(date, at("2026-06-14T10:00:00Z")), true);
    assert.equal(isCurrentSomewhere(date, at("2026-06-16T11:59:59.999Z")), true);
    assert.equal(isCurrentSomewhere(date, at("2026-06-16T12:00:00Z")), false);
    const now = at("2026-06-15T11:00:00Z");
    assert.deepEqual([earliestDate(now), latestDate(now)], ["2026-06-14", "2026-06-16"]);
  });

  it("form weeks from Monday and whole months", () => {
    assert.deepEqual(weekOf("2026-03-01"), { first: "2026-02-23", last: "2026-03-01" });
    assert.deepEqual(weekOf("2026-03-02"), { first: "2026-03-02", last: "2026-03-08" });
    assert.deepEqual(weekOf("2027-01-01"), { first: "2026-12-28", last: "2027-01-03" });
    assert.deepEqual(monthOf("2028-02-10"), { first: "2028-02-01", last: "2028-02-29" });
  });

  it("have a single notation", () => {
    for (const text of ["2026-02-28", "2028-02-29", "0001-01-01", "9999-12-31"])
      assert.ok(isDate(text), text);
    for (const text of ["2026-02-29", "2026-13-01", "2026-2-1", "0000-01-01", "2026-02-28T", ""])
      assert.ok(!isDate(text), text);
  });
});
