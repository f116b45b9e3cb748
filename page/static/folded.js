// The numbers in a list whose retries are folded: of a request's attempts, the last one has a row, and if it is unfolded the earlier ones are below it.
export class Folded {
  // chains: the numbers of all attempts, by that of the first; the list may lack some. unfolded: numbers of first attempts
  constructor(matches, chains, unfolded) {
    Object.assign(this, {matches, size: matches.length, from: matches.at(0)});
    this.heads = new Map();  // the earlier attempts, by the number of the last one
    this.headOf = new Map();  // the number of the last attempt, by that of an earlier one
    const hidden = [], open = [];
    for (const [first, numbers] of chains) {
      const attempts = numbers.filter(number => matches.has(number)), head = attempts.pop();
      if (!attempts.length) continue;
      this.heads.set(head, {first, attempts, open: unfolded.has(first)});
      if (unfolded.has(first)) open.push(head);
      for (const number of attempts) {
        this.headOf.set(number, head);
        hidden.push(matches.place(number));
      }
    }
    this.hidden = Uint32Array.from(hidden).sort();  // places in the list without folds
    this.blocks = [];  // of unfolded attempts: the row above them, and their numbers
    this.length = matches.length - hidden.length;
    for (const head of open.sort((a, b) => a - b)) {
      const {attempts} = this.heads.get(head);
      this.blocks.push({row: this.row(head), attempts});
      this.length += attempts.length;
    }
  }

  // is it still what that list shows? Numbers are added at a list's end, and dropped at its begin
  shows(matches) {
    return this.matches === matches && this.size === matches.length && this.from === matches.at(0);
  }

  at(place) {
    let folded = place;
    for (const {row, attempts} of this.blocks) {
      if (place <= row) break;
      if (place <= row + attempts.length) return attempts[place - row - 1];
      folded -= attempts.length;
    }
    return this.matches.at(folded + this.count((hidden, before) => hidden - before <= folded));
  }

  // where an exchange is shown: one that is folded, in the row of the last attempt
  place(number) {
    const head = this.headOf.get(number);
    if (head === undefined) return this.row(number);
    const {attempts, open} = this.heads.get(head);
    return this.row(head) + (open ? 1 + attempts.indexOf(number) : 0);
  }

  // how many rows are before a number, in order of arrival
  row(number) {
    const place = this.matches.place(number);
    let row = place - this.count(hidden => hidden < place);
    for (const block of this.blocks) {
      if (row <= block.row) break;
      row += block.attempts.length;
    }
    return row;
  }

  // how many hidden places there are before the first of which `before` is false
  count(before) {
    let low = 0, high = this.hidden.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(this.hidden[middle], middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
