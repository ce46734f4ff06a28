"""What a GPU host is and whether it will do: texts in, typed values and one-line reasons out.

``probes.gpu`` gathers texts on the host; ``read`` makes a ``GpuHost`` of them; ``fitness`` and
``equality`` decide. No I/O and no pyinfra here, so all of it is tested on recorded texts.
"""
