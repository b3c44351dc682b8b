/** Words of the field: how the pages name them, and what they mean. */
export const terms = {
  step: { name: 'step', meaning: 'One pass of the training loop over a batch, as its markers say.' },
  compute: { name: 'compute', meaning: 'Time in which at least one device ran a kernel that is no collective.' },
  communication: {
    name: 'exposed communication',
    meaning: 'Time in which only collectives ran: communication that no compute hides.',
  },
  copy: { name: 'exposed copies', meaning: 'Copies outside compute and communication.' },
  idle: { name: 'idle', meaning: 'Time in which the device had nothing to run.' },
  dataWait: { name: 'waiting for data', meaning: 'Idle while the training thread waited for the next batch.' },
  sync: {
    name: 'after synchronising',
    meaning: 'Idle because the host waited for a result of the device and launched nothing meanwhile.',
  },
  launch: { name: 'late launch', meaning: 'Idle because the host launched the next kernel too late.' },
  idleOther: { name: 'other idle', meaning: 'Idle with no cause that the recording shows.' },
  compile: { name: 'compiling', meaning: 'Time of the main thread inside compilation; it lies inside the other parts.' },
  interval: { name: 'step interval', meaning: 'From the end of the step before to the start of forward: mostly reading data.' },
  forwardBackward: { name: 'forward and backward', meaning: 'From the start of forward to the end of backward.' },
  tail: { name: 'step tail', meaning: 'From the end of backward to the end of the step: updating parameters, last collectives.' },
  operator: { name: 'operator', meaning: 'A unit of work as the framework names it; it may run several kernels.' },
  kernel: { name: 'kernel', meaning: 'A program that runs on the device.' },
  hostQueue: { name: 'host queue', meaning: 'Batches that are prepared, in the memory of the host.' },
  deviceQueue: { name: 'device queue', meaning: 'Batches that wait on the device for training to fetch them.' },
  p90: { name: 'p90', meaning: 'Nine of ten are at most this long.' },
}
